// Package memory is the reference [dedupe.Store]: the smallest that keeps the contract. It is for tests, for users' tests and for
// trying things out; what it holds is gone when the process ends.
package memory
