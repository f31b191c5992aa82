// Package expr parses and evaluates DynamoDB's expressions: conditions, filters, key
// conditions, updates and projections. Parsing checks everything the service checks
// before it looks at an item (syntax, placeholders, reserved words, operand types), in
// the service's words. The grammar is described at
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html
package expr
