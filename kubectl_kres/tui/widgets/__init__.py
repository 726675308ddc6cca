"""What every screen is put together from."""
