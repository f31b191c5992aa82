package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// queryCases are about the index and the scan.
func (w *tables) queryCases() []testCase {
	return []testCase{
		{"ddb.gsi_consistent_read_rejected", w.gsiConsistentReadRejected},
		{"ddb.query_gsi_range_filter_paginate", w.queryGsiRangeFilterPaginate},
		{"ddb.query_gsi_descending", w.queryGsiDescending},
		{"ddb.gsi_sparse_items_absent", w.gsiSparseItemsAbsent},
		{"ddb.gsi_follows_update_and_delete", w.gsiFollowsUpdateAndDelete},
		{"ddb.scan_parallel_segments", w.scanParallelSegments},
		{"ddb.scan_1MB_page_limit", w.scan1MBPageLimit},
	}
}

func (w *tables) gsiConsistentReadRejected(ctx context.Context) error {
	_, err := w.client.Query(ctx, &dynamodb.QueryInput{
		TableName: w.name(), IndexName: aws.String("gsi1"), ConsistentRead: aws.Bool(true),
		KeyConditionExpression: aws.String("gpk = :g"), ExpressionAttributeValues: item{":g": str("g")},
	})
	return wantCode(err, "ValidationException")
}

func (w *tables) queryGsiRangeFilterPaginate(ctx context.Context) error {
	p := dynamodb.NewQueryPaginator(w.client, &dynamodb.QueryInput{
		TableName: w.name(), IndexName: aws.String("gsi1"), Limit: aws.Int32(4),
		KeyConditionExpression: aws.String("gpk = :g AND gsk BETWEEN :lo AND :hi"), FilterExpression: aws.String("odd = :one"),
		ExpressionAttributeValues: item{":g": str("G"), ":lo": num(3), ":hi": num(20), ":one": num(1)},
	})
	n, pages, scanned := 0, 0, 0
	last := int64(-1)
	for p.HasMorePages() {
		o, err := p.NextPage(ctx)
		if err != nil {
			return err
		}
		pages++
		scanned += int(o.ScannedCount)
		for _, i := range o.Items {
			v, _ := strconv.ParseInt(number(i, "gsk"), 10, 64)
			if v <= last {
				return errors.New("not in sort-key order")
			}
			last = v
			n++
		}
		if pages > 50 {
			return errors.New("endless pages")
		}
	}
	if n != 9 || pages < 4 || scanned != 18 {
		return fmt.Errorf("items %d (want 9), pages %d (want >=5), scanned %d (want 18)", n, pages, scanned)
	}
	return nil
}

func (w *tables) queryGsiDescending(ctx context.Context) error {
	o, err := w.client.Query(ctx, &dynamodb.QueryInput{
		TableName: w.name(), IndexName: aws.String("gsi1"), Limit: aws.Int32(2), ScanIndexForward: aws.Bool(false),
		KeyConditionExpression: aws.String("gpk = :g AND gsk < :x"), ExpressionAttributeValues: item{":g": str("G"), ":x": num(11)},
	})
	if err != nil {
		return err
	}
	if len(o.Items) != 2 || number(o.Items[0], "gsk") != "10" || number(o.Items[1], "gsk") != "9" || o.LastEvaluatedKey == nil {
		return fmt.Errorf("items %v lek %v", o.Items, o.LastEvaluatedKey)
	}
	return nil
}

func (w *tables) gsiSparseItemsAbsent(ctx context.Context) error {
	o, err := w.client.Scan(ctx, &dynamodb.ScanInput{TableName: w.name(), IndexName: aws.String("gsi1"), Select: types.SelectCount})
	if err != nil {
		return err
	}
	if o.Count != 25 {
		return fmt.Errorf("index holds %d, want 25", o.Count)
	}
	return nil
}

func (w *tables) gsiFollowsUpdateAndDelete(ctx context.Context) error {
	if _, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: w.name(), Key: item{"pk": str("b01")}, UpdateExpression: aws.String("SET gpk = :h"), ExpressionAttributeValues: item{":h": str("H")}}); err != nil {
		return err
	}
	if _, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: w.name(), Key: item{"pk": str("b02")}, UpdateExpression: aws.String("REMOVE gpk")}); err != nil {
		return err
	}
	for g, want := range map[string]int32{"G": 23, "H": 1} {
		o, err := w.client.Query(ctx, &dynamodb.QueryInput{
			TableName: w.name(), IndexName: aws.String("gsi1"), Select: types.SelectCount,
			KeyConditionExpression: aws.String("gpk = :g"), ExpressionAttributeValues: item{":g": str(g)},
		})
		if err != nil {
			return err
		}
		if o.Count != want {
			return fmt.Errorf("%s has %d, want %d", g, o.Count, want)
		}
	}
	return nil
}

func (w *tables) scanParallelSegments(ctx context.Context) error {
	for i := range 8 {
		var wr []types.WriteRequest
		for j := range 25 {
			wr = append(wr, types.WriteRequest{PutRequest: &types.PutRequest{Item: item{"pk": str(fmt.Sprintf("scan-%d-%d", i, j)), "sc": num(1)}}})
		}
		if _, err := w.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.table: wr}}); err != nil {
			return err
		}
	}
	seen := map[string]int{}
	per := make([]int, 4)
	for seg := range int32(4) {
		p := dynamodb.NewScanPaginator(w.client, &dynamodb.ScanInput{
			TableName: w.name(), Segment: aws.Int32(seg), TotalSegments: aws.Int32(4), Limit: aws.Int32(20),
			FilterExpression: aws.String("sc = :one"), ExpressionAttributeValues: item{":one": num(1)},
		})
		for p.HasMorePages() {
			o, err := p.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, i := range o.Items {
				seen[text(i, "pk")]++
				per[seg]++
			}
		}
	}
	for k, v := range seen {
		if v != 1 {
			return fmt.Errorf("%s seen %d times (per segment %v)", k, v, per)
		}
	}
	if len(seen) != 200 {
		return fmt.Errorf("saw %d of 200 (per segment %v)", len(seen), per)
	}
	nz := 0
	for _, n := range per {
		if n > 0 {
			nz++
		}
	}
	if nz < 2 {
		return fmt.Errorf("segments not spread: %v", per)
	}
	return nil
}

func (w *tables) scan1MBPageLimit(ctx context.Context) error {
	big := strings.Repeat("x", 300<<10)
	for i := range 5 {
		if err := w.put(ctx, item{"pk": str(fmt.Sprintf("big%d", i)), "d": str(big), "bigmark": num(1)}); err != nil {
			return err
		}
	}
	n := 0
	p := dynamodb.NewScanPaginator(w.client, &dynamodb.ScanInput{TableName: w.name()})
	for p.HasMorePages() {
		if _, err := p.NextPage(ctx); err != nil {
			return err
		}
		n++
	}
	for i := range 5 {
		_, _ = w.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: w.name(), Key: item{"pk": str(fmt.Sprintf("big%d", i))}})
	}
	if n < 2 {
		return fmt.Errorf("1.5 MB w.table came in %d page", n)
	}
	return nil
}
