// Command emulcheck asks a server that speaks SQS or DynamoDB what AWS documents, one case a question, with the AWS SDK for Go v2.
//
//	go run . -name moto -sqs http://127.0.0.1:5000 -dynamo http://127.0.0.1:5000 -known known/moto.txt
//
// Each case prints one line: pass, FAIL, info (AWS promises neither answer) or known, a failure that the file of -known lists with
// its reason. A listed case that passes is reported as PASSES and fails the run, so that the lists stay true. The last line counts
// all of them. Point it at a server on loopback only: it makes and deletes queues and a table.
package main
