// Command main creates a routine, runs it and reads the run, by the client that oapi-codegen made.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"example.com/program/ras"
)

func main() {
	ctx := context.Background()
	key := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("RAS_API_KEY"))
		return nil
	}
	client, err := ras.NewClientWithResponses(os.Getenv("RAS_API_URL"), ras.WithRequestEditorFn(key))
	check(err)
	url := "https://example.com/feed.json"
	created, err := client.CreateRoutineWithResponse(ctx, nil, ras.CreateRoutine{
		Name:         "From Go",
		Instructions: "Write one line.",
		Schedule:     "0 7 * * *",
		Model:        ras.ModelReference{Provider: "gateway", ModelId: "fixture/writer-small"},
		Gate:         &ras.GateInput{Url: &url},
	})
	check(err)
	if created.JSON201 == nil {
		log.Fatalf("not created: %s", created.Body)
	}
	begun, err := client.RunRoutineWithResponse(ctx, created.JSON201.Data.Id, nil, ras.RunRoutineBody{})
	check(err)
	if begun.JSON202 == nil {
		log.Fatalf("not begun: %s", begun.Body)
	}
	run := readEnded(ctx, client, begun.JSON202.Data.Id)
	page, err := client.ListRoutinesWithResponse(ctx, nil)
	check(err)
	missing, err := client.ReadRunWithResponse(ctx, "run_01kx3k9y6wfd8r0v5m2c7t4q5d", nil)
	check(err)
	fmt.Println(run.State, page.JSON200.Data[0].Name, missing.JSONDefault.Error.Code)
}

// readEnded reads a run until it has ended, which may take several waits on a slow machine.
func readEnded(ctx context.Context, client *ras.ClientWithResponses, id string) ras.RunDetail {
	wait := "wait=50"
	for {
		read, err := client.ReadRunWithResponse(ctx, id, &ras.ReadRunParams{Prefer: &wait})
		check(err)
		if read.JSON200 == nil {
			log.Fatalf("not read: %s", read.Body)
		}
		if read.JSON200.Data.FinishedAt != nil {
			return read.JSON200.Data
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
