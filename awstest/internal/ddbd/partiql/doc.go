// Package partiql parses the PartiQL statements that DynamoDB documents: SELECT, INSERT, UPDATE and DELETE of one item, with
// parameters. It makes expr's conditions and updates of them, so that both languages are evaluated by the same code.
//
// The grammar is that of https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.statements.html and
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-functions.html: what those pages do not list, such as
// attribute_not_exists or if_not_exists, is refused, so that no test passes here with a statement that fails on AWS. The other
// way round it is looser: it knows no reserved words, so that an unquoted name that AWS refuses may pass.
package partiql
