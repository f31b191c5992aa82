package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// largest is how many bytes a message has at most.
const largest = 1 << 20

// mebibyte: a message of 1,048,576 bytes is taken, and of one more is refused.
func mebibyte(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	if _, err := q.send(ctx, strings.Repeat("x", largest)); codeOf(err) != "" {
		return seen("a message of 1 MiB was refused: %v", err)
	} else if err != nil {
		return err
	}
	_, err = q.send(ctx, strings.Repeat("x", largest+1))
	return refused("a message of 1 MiB and a byte", err, "InvalidParameterValue")
}

// attributesTakeRoom: name, type and value of an attribute count towards the size of a message.
func attributesTakeRoom(ctx context.Context, w *world) error {
	q, err := w.queue(ctx, "MaximumMessageSize", "1024")
	if err != nil {
		return err
	}
	extra := attributes(map[string]types.MessageAttributeValue{"name": stringValue("value")})
	const takes = len("name") + len("String") + len("value")
	if _, err := q.send(ctx, strings.Repeat("x", 1024-takes), extra); codeOf(err) != "" {
		return seen("a message that is full with its attribute was refused: %v", err)
	} else if err != nil {
		return err
	}
	_, err = q.send(ctx, strings.Repeat("x", 1024-takes+1), extra)
	return refused("a message that is a byte too large with its attribute", err, "InvalidParameterValue")
}

// tenAttributes: a message has ten attributes at most.
func tenAttributes(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	many := map[string]types.MessageAttributeValue{}
	for i := range 10 {
		many["a"+strconv.Itoa(i)] = stringValue("v")
	}
	if _, err := q.send(ctx, "x", attributes(many)); codeOf(err) != "" {
		return seen("ten attributes were refused: %v", err)
	} else if err != nil {
		return err
	}
	many["a10"] = stringValue("v")
	_, err = q.send(ctx, "x", attributes(many))
	return refused("a message with 11 attributes", err, "InvalidParameterValue")
}

// nothingEmpty: neither a body nor the value of an attribute may be empty.
func nothingEmpty(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	_, err = q.send(ctx, "")
	if err := refused("an empty body", err, "MissingParameter", "InvalidParameterValue"); err != nil {
		return err
	}
	_, err = q.send(ctx, "x", attributes(map[string]types.MessageAttributeValue{"a": stringValue("")}))
	return refused("an attribute with an empty value", err, "InvalidParameterValue")
}

// allowedCharacters: the characters of XML are taken in body and attributes, and no others.
func allowedCharacters(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	good := "\t\n\r \u007f\u0085\ud7ff\ue000\ufffd\U00010000\U0010ffff"
	if _, err := q.send(ctx, good, attributes(map[string]types.MessageAttributeValue{"a": stringValue(good)})); codeOf(err) != "" {
		return seen("allowed characters were refused: %v", err)
	} else if err != nil {
		return err
	}
	var errs []error
	for _, bad := range []string{"\x01", "\x1f", "\ufffe", "\uffff"} {
		_, err := q.send(ctx, "x"+bad)
		errs = append(errs, refused("a body with "+strconv.QuoteToASCII(bad), err, "InvalidMessageContents"))
		_, err = q.send(ctx, "x", attributes(map[string]types.MessageAttributeValue{"a": stringValue("x" + bad)}))
		errs = append(errs, refused("an attribute with "+strconv.QuoteToASCII(bad), err, "InvalidParameterValue", "InvalidMessageContents"))
	}
	return errors.Join(errs...)
}

// addressOfQueue: the ARN has six parts, of which the last two are account and name, and these give the URL back; on AWS the URL's host
// names the region.
func addressOfQueue(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	attrs, err := q.attributes(ctx)
	if err != nil {
		return err
	}
	parts := strings.Split(attrs["QueueArn"], ":")
	region := w.sqs.Options().Region
	if len(parts) != 6 || parts[2] != "sqs" || parts[3] != region || parts[5] != q.name {
		return seen("the ARN is %q", attrs["QueueArn"])
	}
	url, err := w.urlOf(ctx, parts[5], parts[4])
	if err != nil {
		return err
	}
	if url != q.url || !strings.HasSuffix(url, "/"+q.name) {
		return seen("the URL of %s is %q, it was created as %q", attrs["QueueArn"], url, q.url)
	}
	if host := "https://sqs." + region + ".amazonaws.com"; w.aws && !strings.HasPrefix(url, host) {
		return seen("the URL %q does not begin with %s", url, host)
	}
	return nil
}

func (w *world) urlOf(ctx context.Context, name, account string) (string, error) {
	out, err := w.sqs.GetQueueUrl(ctx, getURL(name, account))
	if err != nil {
		return "", err
	}
	return aws.ToString(out.QueueUrl), nil
}
