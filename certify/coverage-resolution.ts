/** Coverage begins and ends at whole milliseconds; a frame of another market may have been received meanwhile. Microseconds. */
export const COVERAGE_RESOLUTION_MICROS = 2000;
