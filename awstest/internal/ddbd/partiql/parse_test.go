package partiql_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/partiql"
)

// show writes values as JSON with single quotes.
func show(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), `"`, `'`)
}

func parse(t *testing.T, text string, params ...attr.Value) *partiql.Statement {
	t.Helper()
	s, err := partiql.Parse(text, params)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func TestInsertReadsEveryLiteral(t *testing.T) {
	t.Parallel()
	s := parse(t, `insert into "a-table" value {'id': ?, 'text': 'it''s', 'n': -1.50e2, 'yes': true, 'no': FALSE, 'none': null,
		'list': [1, 'two', ?], 'tuple': {'a': {'b': []}}, 'names': <<'b', 'a'>>, 'numbers': <<2, 10>>};`, attr.String("i"), attr.Int(3))
	if s.Verb != partiql.Insert || s.Table != "a-table" {
		t.Errorf("got verb %d of table %q", s.Verb, s.Table)
	}
	want := `{'id':{'S':'i'},'list':{'L':[{'N':'1'},{'S':'two'},{'N':'3'}]},'n':{'N':'-150'},'names':{'SS':['a','b']},` +
		`'no':{'BOOL':false},'none':{'NULL':true},'numbers':{'NS':['2','10']},'text':{'S':'it's'},'tuple':{'M':{'a':{'M':{'b':{'L':[]}}}}},'yes':{'BOOL':true}}`
	if got := show(t, s.Item); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestUpdateChangesWhatItSays(t *testing.T) {
	t.Parallel()
	item := attr.Item{
		"id": attr.String("i"), "n": attr.Int(5), "gone": attr.Int(1), "also": attr.Int(1),
		"list": {Kind: attr.KindL, List: []attr.Value{attr.Int(1)}}, "tags": {Kind: attr.KindSS, Strs: []string{"a", "b"}},
		"m": {Kind: attr.KindM, Map: attr.Item{"in": attr.Int(1)}},
	}
	s := parse(t, `UPDATE "t" SET n = n + ? SET "new" = 'x', m."in" = 2 - n SET list=list_append(list, [2]) SET tags = set_add(tags, <<'c'>>)
		REMOVE gone, also WHERE id = 'i' RETURNING ALL NEW *`, attr.Int(2))
	out, err := s.Update.Apply(item)
	if err != nil {
		t.Fatal(err)
	}
	want := `{'id':{'S':'i'},'list':{'L':[{'N':'1'},{'N':'2'}]},'m':{'M':{'in':{'N':'-3'}}},'n':{'N':'7'},'new':{'S':'x'},'tags':{'SS':['a','b','c']}}`
	if got := show(t, out); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if s.Returning != "ALL_NEW" {
		t.Errorf("returning %s, want ALL_NEW", s.Returning)
	}
	less := parse(t, `UPDATE t SET tags = set_delete(tags, <<'a'>>) WHERE id = 'i'`)
	if out, err = less.Update.Apply(item); err != nil || len(out["tags"].Strs) != 1 {
		t.Errorf("set_delete: got %v, %v", out["tags"], err)
	}
}

func TestWhereIsTrueForWhatItSays(t *testing.T) {
	t.Parallel()
	item := attr.Item{"id": attr.String("i"), "n": attr.Int(5), "text": attr.String("hello"), "none": {Kind: attr.KindNULL}}
	for where, want := range map[string]bool{
		"n = 5": true, "n <> 5": false, "n != 6": true, "n < 10 AND n >= 5": true, "n > 5 OR n <= 4": false,
		"NOT n = 5": false, "NOT (n = 5 AND text = 'no')": true, "n BETWEEN 1 AND 5 AND text = 'hello'": true,
		"n IN [1, 5]": true, "n IN (1, 2)": false, "expires_at <= 7": false,
		"expires_at IS MISSING": true, "n IS NOT MISSING": true, "n is missing OR n <= 5": true,
		"none IS NULL": true, "expires_at IS NULL": false, "n IS NOT NULL": true,
		"begins_with(text, 'he')": true, "contains(\"text\", 'ell')": true, "attribute_type(n, 'N')": true, "size(text) = 5": true,
		// AND binds tighter than OR.
		"n = 5 OR n = 6 AND text = 'no'": true, "(n = 5 OR n = 6) AND text = 'no'": false,
	} {
		s := parse(t, "SELECT * FROM t WHERE "+where)
		if got := s.Where.Eval(item); got != want {
			t.Errorf("%s: got %t, want %t", where, got, want)
		}
	}
}

func TestKeyIsWhatTheStatementDemands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"DELETE FROM t WHERE id = 'i' AND sk = 2 AND x = 3":       "{'id':{'S':'i'},'sk':{'N':'2'}} true",
		"DELETE FROM t WHERE (x = 3 AND (id = 'i')) AND (sk = 2)": "{'id':{'S':'i'},'sk':{'N':'2'}} true",
		"DELETE FROM t WHERE id = 'i'":                            "{'id':{'S':'i'}} false",
		"DELETE FROM t WHERE id = 'i' OR sk = 2":                  "{} false",
		"DELETE FROM t WHERE NOT id = 'i' AND sk >= 2":            "{} false",
		"INSERT INTO t VALUE {'id': 'i', 'sk': 2, 'x': 1}":        "{'id':{'S':'i'},'sk':{'N':'2'}} true",
	} {
		key, ok := parse(t, text).Key([]string{"id", "sk"})
		if got := fmt.Sprint(show(t, key), " ", ok); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestWhatIsNotPartiQLIsRefused(t *testing.T) {
	t.Parallel()
	for text, message := range map[string]string{
		"":                                    "end of statement",
		"DROP TABLE t":                        `"DROP"`,
		"INSERT INTO t VALUE":                 "end of statement",
		"INSERT INTO t VALUE {id: 1}":         `"id"`,
		"INSERT INTO t VALUE {'a':1,'a':2}":   "twice",
		"INSERT INTO t VALUE {'a':<<1,'b'>>}": "well formed",
		"INSERT INTO t VALUE {'a':<<>>}":      "well formed",
		"INSERT INTO t VALUE {'a':1} RETURNING ALL OLD *":                "RETURNING is not supported in INSERT",
		"UPDATE t SET a = 1":                                             "mandatory equality",
		"UPDATE t WHERE id = 1":                                          `"WHERE"`,
		"UPDATE t SET a = 1, a = 2 WHERE id = 1":                         "overlap",
		"UPDATE t SET a = if_not_exists(a, 1) WHERE id = 1":              "if_not_exists cannot be assigned",
		"UPDATE t SET a = set_add(b, <<1>>) WHERE id = 1":                "set_add",
		"UPDATE t SET a = 1 WHERE attribute_not_exists(id)":              "IS MISSING",
		"UPDATE t SET a = 1 WHERE id = 1 RETURNING NEW *":                "well formed",
		"UPDATE my-table SET a = 1 WHERE id = 1":                         `"-"`,
		"INSERT INTO t VALUE {'a':-'5'}":                                 `"5"`,
		"DELETE FROM t":                                                  "mandatory equality",
		"DELETE FROM t WHERE id = 1 RETURNING ALL NEW *":                 "Only RETURNING ALL OLD *",
		"SELECT * FROM t.i WHERE id = 1":                                 "index",
		"SELECT * FROM t WHERE id = ":                                    "end of statement",
		"SELECT * FROM t WHERE id":                                       "end of statement",
		"SELECT * FROM t WHERE 'a' IS MISSING":                           "well formed",
		"SELECT * FROM t WHERE id = 'open":                               "well formed",
		"SELECT * FROM t WHERE id = 1 LIMIT 3":                           `"LIMIT"`,
		"SELECT * FROM t WHERE id = ?":                                   "Number of parameters",
		"SELECT * FROM t WHERE id = 1; SELECT * FROM t WHERE id=2":       `"SELECT"`,
		"SELECT * FROM t WHERE id = 1e999":                               "Number overflow",
		"SELECT * FROM t WHERE id = '" + strings.Repeat("x", 8192) + "'": "8192",
	} {
		s, err := partiql.Parse(text, nil)
		if err == nil {
			t.Errorf("%.60s: got %+v, want an error with %q", text, s, message)
		} else if !strings.Contains(err.Error(), message) {
			t.Errorf("%.60s: got %q, want an error with %q", text, err, message)
		}
	}
	if _, err := partiql.Parse("SELECT * FROM t WHERE id = 1", []attr.Value{attr.Int(1)}); err == nil {
		t.Error("a parameter that nothing uses was accepted")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`UPDATE "t" SET a = a + ? REMOVE b[0].c WHERE id = 'i' AND (x IS MISSING OR y <= 1e3) RETURNING ALL OLD *`)
	f.Add(`INSERT INTO t VALUE {'id': <<1,2>>, 'l': [?, {'a': null}]}`)
	f.Fuzz(func(_ *testing.T, text string) {
		s, err := partiql.Parse(text, []attr.Value{attr.Int(1)})
		if err == nil {
			s.Key([]string{"id"}) // must not panic either
		}
	})
}
