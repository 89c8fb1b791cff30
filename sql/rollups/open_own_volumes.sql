{open_own_volumes}
