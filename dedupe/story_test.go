package dedupe_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// A story is a script in testdata/stories: a plain paragraph on what breaks without the rule, then commands, each block with what
// it must print below a line of dashes. The commands are those of world.command. -rewrite writes what they print now.
func TestStories(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("testdata", "stories", "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			prose, blocks := readStory(t, string(text))
			if len(strings.Fields(prose)) < 20 {
				t.Error("a story begins with a plain paragraph on what breaks without the rule")
			}
			var got string
			synctest.Test(t, func(t *testing.T) {
				got = prose + tell(t, blocks)
			})
			golden(t, path, got)
		})
	}
}

// A block is some commands, comments among them, and what they print.
type block struct {
	commands []string
}

const dashes = "----"

func readStory(t *testing.T, text string) (prose string, blocks []block) {
	t.Helper()
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		commands, _, ok := strings.Cut(p+"\n", "\n"+dashes+"\n")
		switch {
		case ok:
			blocks = append(blocks, block{strings.Split(commands, "\n")})
		case blocks == nil:
			prose += p + "\n\n"
		default:
			t.Fatalf("paragraph %d has no line of dashes below its commands", i+1)
		}
	}
	return prose, blocks
}

// tell runs the commands and gives the script as it should read.
func tell(t *testing.T, blocks []block) string {
	t.Helper()
	w := newWorld(t)
	defer w.end()
	var b strings.Builder
	for i, bl := range blocks {
		if i > 0 {
			b.WriteString("\n")
		}
		for _, line := range bl.commands {
			b.WriteString(line + "\n")
			if !strings.HasPrefix(line, "#") {
				w.command(strings.Fields(line))
				synctest.Wait()
				w.noteRecord()
			}
		}
		b.WriteString(dashes + "\n" + w.printed())
	}
	return b.String()
}
