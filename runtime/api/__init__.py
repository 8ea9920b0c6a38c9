"""Public functions beside the operators: conversion, promotion, files, spectra, gradient clipping."""
