// Package adaptertest checks what [consumer.Source] and the abilities beside it promise, on any implementation.
//
// A test gives it a [Rig]: an empty queue and the means to look at it. Time is the rig's: the checks wait for visibility timeouts, so
// that an implementation on fake time runs them in testing/synctest bubbles, and one on a real broker with a visibility of
// a few seconds.
package adaptertest
