package fingerprint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// oracleCut is the oracle for bodies with Select and Volatile: it walks a tree of
// values. The pointers are ones that New accepted.
func oracleCut(body []byte, selected string, volatile ...string) (string, error) {
	if _, err := oracle(body, fuzzDepth); err != nil {
		return "", err
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return "", err
	}
	var pointers [][]string
	for _, pointer := range volatile {
		pointers = append(pointers, oracleTokens(pointer))
	}
	for _, token := range oracleTokens(selected) {
		inner, ok := oracleChildren(tree)[token]
		if !ok {
			return "", errors.New("nothing selected")
		}
		tree, pointers = inner, oracleBelow(pointers, token)
	}
	pruned, kept, cut := oraclePrune(tree, pointers)
	if cut && kept == 0 {
		return "", errors.New("nothing left")
	}
	text, err := json.Marshal(pruned)
	if err != nil {
		return "", err
	}
	return oracle(text, fuzzDepth)
}

func oracleTokens(pointer string) []string {
	var tokens []string
	for _, token := range strings.Split(pointer, "/")[1:] {
		tokens = append(tokens, strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"))
	}
	return tokens
}

func oracleChildren(value any) map[string]any {
	children := map[string]any{}
	switch value := value.(type) {
	case map[string]any:
		return value
	case []any:
		for i, element := range value {
			children[strconv.Itoa(i)] = element
		}
	}
	return children
}

func oracleBelow(pointers [][]string, token string) (below [][]string) {
	for _, pointer := range pointers {
		if pointer[0] == token || pointer[0] == "*" {
			below = append(below, pointer[1:])
		}
	}
	return below
}

// oraclePrune returns what is left of value, how many scalars and empty
// containers of it were kept, and whether anything was left out.
func oraclePrune(value any, pointers [][]string) (pruned any, kept int, cut bool) {
	children := oracleChildren(value)
	if len(children) == 0 {
		return value, 1, false
	}
	left := map[string]any{}
	for name, child := range children {
		below := oracleBelow(pointers, name)
		if oracleEndsIn(below) {
			cut = true
			continue
		}
		inner, n, c := oraclePrune(child, below)
		left[name] = inner
		kept, cut = kept+n, cut || c
	}
	list, ok := value.([]any)
	if !ok {
		return left, kept, cut
	}
	elements := []any{}
	for i := range list {
		if element, ok := left[strconv.Itoa(i)]; ok {
			elements = append(elements, element)
		}
	}
	return elements, kept, cut
}

func oracleEndsIn(pointers [][]string) bool {
	for _, pointer := range pointers {
		if len(pointer) == 0 {
			return true
		}
	}
	return false
}
