"""Functions of the package beside its operators: conversion, promotion, files, spectra, limits on gradients."""
