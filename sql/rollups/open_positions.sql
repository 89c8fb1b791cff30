{open_positions}
