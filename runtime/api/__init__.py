"""Functions of the package beside its operators: conversion, promotion, files, spectra, gradients that are cut."""
