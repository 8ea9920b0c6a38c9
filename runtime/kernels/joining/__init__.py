"""Arrays laid side by side and taken apart."""
