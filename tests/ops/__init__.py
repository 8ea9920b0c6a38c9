"""Tests that every entry of derivatives.yaml gets, through generated/op_info.py."""
