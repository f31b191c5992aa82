package keys

// Milliseconds lets tests give times that no clock shows.
var Milliseconds = milliseconds
