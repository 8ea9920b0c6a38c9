"""Tests of the kernels, by the names of their modules: arrays in, arrays out."""
