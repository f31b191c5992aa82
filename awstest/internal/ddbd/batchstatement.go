package ddbd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/partiql"
	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// maxStatements is from
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html
const maxStatements = 25

type batchStatementInput struct {
	Statements             []statementInput
	ReturnConsumedCapacity string
}

type batchStatementOutput struct {
	Responses        []statementResponse
	ConsumedCapacity []*consumedCapacity `json:",omitempty"`
}

// statementResponse names the table for a statement that failed too; see
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementResponse.html
type statementResponse struct {
	TableName string          `json:",omitempty"`
	Item      attr.Item       `json:",omitempty"`
	Error     *statementError `json:",omitempty"`
}

type statementError struct {
	Code    string
	Message string
	Item    attr.Item `json:",omitempty"`
}

// batchExecuteStatement is no transaction: every statement succeeds or fails alone.
func (s *Server) batchExecuteStatement(in *batchStatementInput) (any, error) {
	if err := checkCapacityMode(in.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	statements, err := s.prepareStatements(in.Statements)
	if err != nil {
		return nil, err
	}
	out := &batchStatementOutput{}
	var all bills
	for _, st := range statements {
		out.Responses = append(out.Responses, s.respond(st, &all))
	}
	all.charge()
	out.ConsumedCapacity = all.report(in.ReturnConsumedCapacity, false)
	return out, nil
}

// prepareStatements refuses what makes the whole batch invalid; what is wrong with one statement waits until its turn. That two on
// one item are refused is what the batch calls without PartiQL do; the page on BatchExecuteStatement does not say it.
func (s *Server) prepareStatements(in []statementInput) ([]*statement, error) {
	switch {
	case len(in) == 0:
		return nil, badValue("'[]'", "statements", "Member must have length greater than or equal to 1")
	case len(in) > maxStatements:
		return nil, badValue(fmt.Sprintf("'[%d statements]'", len(in)), "statements", fmt.Sprintf("Member must have length less than or equal to %d", maxStatements))
	}
	var out []*statement
	reads, writes := 0, 0
	taken := map[place]bool{}
	for i := range in {
		st := s.prepareStatement(&in[i])
		out = append(out, st)
		switch {
		case st.Statement == nil:
			continue
		case st.Verb == partiql.Select:
			reads++
		default:
			writes++
		}
		if st.err != nil {
			continue
		}
		at := place{st.table, st.key}
		if taken[at] {
			return nil, invalid("Provided list of item keys contains duplicates")
		}
		taken[at] = true
	}
	if reads > 0 && writes > 0 {
		return nil, invalid("Read and write requests together in the same batch is not supported.")
	}
	return out, nil
}

func (s *Server) respond(st *statement, all *bills) statementResponse {
	out := statementResponse{}
	if st.table != nil {
		out.TableName = st.table.name
	}
	err := st.err
	if err == nil {
		out.Item, err = s.execute(st, all.of(st.table))
	}
	if err != nil {
		out.Error = statementFailure(err)
	}
	return out
}

// statementFailure has the codes of the page API_BatchStatementError: an exception's name without its ending, and ValidationError.
func statementFailure(err error) *statementError {
	e := wireError(err)
	_, code, _ := strings.Cut(e.Code, "#")
	code = strings.TrimSuffix(code, "Exception")
	if code == "Validation" {
		code = "ValidationError"
	}
	out := &statementError{Code: code, Message: e.Message}
	if failed, ok := errors.AsType[*wire.Error](err); ok {
		out.Item, _ = failed.Fields["Item"].(attr.Item)
	}
	return out
}
