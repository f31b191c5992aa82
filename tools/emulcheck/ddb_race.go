package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// raceCases let writers compete.
func (w *tables) raceCases() []testCase {
	return []testCase{
		{"ddb.race_32_claims_one_winner", w.race32ClaimsOneWinner},
		{"ddb.race_atomic_counter", w.raceAtomicCounter},
		{"ddb.race_transactions_exact", w.raceTransactionsExact},
	}
}

func (w *tables) race32ClaimsOneWinner(ctx context.Context) error {
	for round := range 40 {
		var wins, lost, other atomic.Int32
		var wg sync.WaitGroup
		pk := fmt.Sprintf("race-%d", round)
		for g := range 32 {
			wg.Go(func() {
				_, err := w.client.PutItem(ctx, w.claim(pk, strconv.Itoa(g), w.now, w.now+30, w.now+3600))
				_, failed := errors.AsType[*types.ConditionalCheckFailedException](err)
				switch {
				case err == nil:
					wins.Add(1)
				case failed:
					lost.Add(1)
				default:
					other.Add(1)
				}
			})
		}
		wg.Wait()
		if wins.Load() != 1 || other.Load() != 0 {
			return fmt.Errorf("round %d: %d winners, %d losers, %d other errors", round, wins.Load(), lost.Load(), other.Load())
		}
	}
	return nil
}

func (w *tables) raceAtomicCounter(ctx context.Context) error {
	var wg sync.WaitGroup
	var bad atomic.Int32
	for range 32 {
		wg.Go(func() {
			for range 30 {
				if _, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: w.name(), Key: item{"pk": str("ctr")}, UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: item{":one": num(1)}}); err != nil {
					bad.Add(1)
				}
			}
		})
	}
	wg.Wait()
	i, err := w.get(ctx, "ctr")
	if err == nil && (number(i, "n") != "960" || bad.Load() != 0) {
		err = fmt.Errorf("n=%s, %d errors", number(i, "n"), bad.Load())
	}
	return err
}

func (w *tables) raceTransactionsExact(ctx context.Context) error {
	var wg sync.WaitGroup
	var ok, conflict atomic.Int32
	var other atomic.Value
	for range 16 {
		wg.Go(func() {
			for range 20 {
				_, err := w.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
					{Update: &types.Update{TableName: w.name(), Key: item{"pk": str("tc1")}, UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: item{":one": num(1)}}},
					{Update: &types.Update{TableName: w.name(), Key: item{"pk": str("tc2")}, UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: item{":one": num(1)}}},
				}})
				_, failed := errors.AsType[*types.TransactionCanceledException](err)
				switch {
				case err == nil:
					ok.Add(1)
				case failed:
					conflict.Add(1)
				default:
					other.Store(short(err))
				}
			}
		})
	}
	wg.Wait()
	if v := other.Load(); v != nil {
		return fmt.Errorf("unexpected error: %v", v)
	}
	a, err := w.get(ctx, "tc1")
	if err != nil {
		return err
	}
	b, err := w.get(ctx, "tc2")
	if err != nil {
		return err
	}
	if number(a, "n") != number(b, "n") || number(a, "n") != strconv.Itoa(int(ok.Load())) {
		return fmt.Errorf("tc1=%s tc2=%s ok=%d conflicts=%d", number(a, "n"), number(b, "n"), ok.Load(), conflict.Load())
	}
	return nil
}
