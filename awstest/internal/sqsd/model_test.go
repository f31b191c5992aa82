package sqsd_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// model is a queue so simple that it is plainly right: a list, searched in full each time.
type model struct {
	list   []*kept
	now    time.Time
	serial int
}

type kept struct {
	body, group, handle string
	serial, receives    int
	visible             time.Time
	flying              bool
}

func (k *kept) inFlight(now time.Time) bool { return k.flying && k.visible.After(now) }

// blocked: an older message of its group is hidden.
func (m *model) blocked(k *kept) bool {
	return slices.ContainsFunc(m.list, func(o *kept) bool {
		return k.group != "" && o.group == k.group && o.serial < k.serial && o.visible.After(m.now)
	})
}

func (m *model) ready() []*kept {
	var out []*kept
	for _, k := range m.list {
		if !k.visible.After(m.now) && !m.blocked(k) {
			out = append(out, k)
		}
	}
	if i := slices.IndexFunc(out, func(k *kept) bool { return k.group != "" }); i < 0 {
		return out
	}
	first := map[string]int{} // the oldest group comes first, and the whole of it
	for _, k := range out {
		if _, ok := first[k.group]; !ok {
			first[k.group] = k.serial
		}
	}
	slices.SortStableFunc(out, func(a, b *kept) int { return cmp.Compare(first[a.group], first[b.group]) })
	return out
}

func (m *model) counts() string {
	visible, inFlight, delayed := 0, 0, 0
	for _, k := range m.list {
		switch {
		case k.inFlight(m.now):
			inFlight++
		case k.visible.After(m.now):
			delayed++
		default:
			visible++
		}
	}
	return fmt.Sprint(visible, inFlight, delayed)
}

// walk does random things to a queue and to the model.
type walk struct {
	*rig

	queue string
	fifo  bool
	rand  *rand.Rand
	m     model
	past  []*kept // with the handle they had, some of it stale
}

func TestQueueAgainstModel(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"q", "q.fifo"} {
		for seed := range uint64(8) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					w := &walk{rig: newRig(t), queue: url + name, fifo: name != "q", rand: rand.New(rand.NewPCG(seed, 1))}
					attributes := fields{"VisibilityTimeout": "30"}
					if w.fifo {
						attributes["FifoQueue"] = "true"
					}
					w.call("CreateQueue", fields{"QueueName": name, "Attributes": attributes})
					for range 400 {
						w.step()
					}
				})
			})
		}
	}
}

func (w *walk) step() {
	w.Helper()
	w.m.now = time.Now()
	switch w.rand.IntN(10) {
	case 0, 1, 2:
		w.send()
	case 3, 4, 5:
		w.receive()
	case 6:
		w.erase()
	case 7:
		w.hide()
	default:
		time.Sleep(time.Duration(w.rand.IntN(20)) * time.Second)
		w.m.now = time.Now()
	}
	a := w.call("GetQueueAttributes", fields{"QueueUrl": w.queue, "AttributeNames": []string{"All"}})["Attributes"].(fields)
	const prefix = "ApproximateNumberOfMessages"
	if got := fmt.Sprint(a[prefix], " ", a[prefix+"NotVisible"], " ", a[prefix+"Delayed"]); got != w.m.counts() {
		w.Fatalf("visible, in flight, delayed: got %s, want %s", got, w.m.counts())
	}
}

func (w *walk) send() {
	w.m.serial++
	k := &kept{body: fmt.Sprint(w.m.serial), serial: w.m.serial}
	in := fields{"QueueUrl": w.queue, "MessageBody": k.body}
	delay := w.rand.IntN(3) * 10
	k.visible = w.m.now.Add(time.Duration(delay) * time.Second)
	if w.fifo {
		k.group = fmt.Sprint("g", w.rand.IntN(3))
		in["MessageGroupId"], in["MessageDeduplicationId"] = k.group, k.body
		w.call("SetQueueAttributes", fields{"QueueUrl": w.queue, "Attributes": fields{"DelaySeconds": fmt.Sprint(delay)}})
	} else {
		in["DelaySeconds"] = delay
	}
	w.call("SendMessage", in)
	w.m.list = append(w.m.list, k)
}

func (w *walk) receive() {
	w.Helper()
	limit, hidden := 1+w.rand.IntN(4), w.rand.IntN(40)
	want := w.m.ready()
	want = want[:min(limit, len(want))]
	got, _ := w.call("ReceiveMessage", fields{"QueueUrl": w.queue, "MaxNumberOfMessages": limit, "VisibilityTimeout": hidden, "AttributeNames": []string{"All"}})["Messages"].([]any)
	if len(got) != len(want) {
		w.Fatalf("got %d messages, want %d", len(got), len(want))
	}
	for i, k := range want {
		m := got[i].(fields)
		k.receives++
		if m["Body"] != k.body || m["Attributes"].(fields)["ApproximateReceiveCount"] != fmt.Sprint(k.receives) {
			w.Fatalf("got %v, want body %s at receive %d", m, k.body, k.receives)
		}
		k.handle, k.visible, k.flying = m["ReceiptHandle"].(string), w.m.now.Add(time.Duration(hidden)*time.Second), true
		old := *k
		w.past = append(w.past, &old)
	}
}

// pick gives some handle of the past, and the message if it is there still. nil: nothing was received yet.
func (w *walk) pick() (handle string, k *kept) {
	if len(w.past) == 0 {
		return "", nil
	}
	p := w.past[max(0, len(w.past)-1-w.rand.IntN(8))]
	if i := slices.IndexFunc(w.m.list, func(k *kept) bool { return k.serial == p.serial }); i >= 0 {
		return p.handle, w.m.list[i]
	}
	return p.handle, nil
}

func (w *walk) erase() {
	w.Helper()
	handle, k := w.pick()
	if handle == "" {
		return
	}
	in := fields{"QueueUrl": w.queue, "ReceiptHandle": handle}
	if k != nil && w.fifo && (k.handle != handle || !k.inFlight(w.m.now)) {
		w.wantCode("DeleteMessage", in, "InvalidParameterValue")
		return
	}
	w.call("DeleteMessage", in)
	if k != nil && k.handle == handle {
		w.m.list = slices.DeleteFunc(w.m.list, func(o *kept) bool { return o == k })
	}
}

func (w *walk) hide() {
	w.Helper()
	handle, k := w.pick()
	if handle == "" {
		return
	}
	seconds := w.rand.IntN(40)
	in := fields{"QueueUrl": w.queue, "ReceiptHandle": handle, "VisibilityTimeout": seconds}
	switch {
	case k == nil:
		w.wantCode("ChangeMessageVisibility", in, "InvalidParameterValue")
	case k.handle != handle || !k.inFlight(w.m.now):
		w.wantCode("ChangeMessageVisibility", in, "com.amazonaws.sqs#MessageNotInflight")
	default:
		w.call("ChangeMessageVisibility", in)
		k.visible = w.m.now.Add(time.Duration(seconds) * time.Second)
	}
}
