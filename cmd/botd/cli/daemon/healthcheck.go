package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/runtime/ops"
)

// health is the response of /healthz and /readyz.
type health struct {
	Schema int         `json:"schema"`
	Status string      `json:"status"`
	Checks []ops.Check `json:"checks,omitempty"`
}

// NewHealthcheck returns the command botd healthcheck.
func NewHealthcheck() *cobra.Command {
	var flags connect.Flags
	var ready bool
	command := &cobra.Command{
		Use: "healthcheck", Short: "check that the running botd is alive, or ready; for containers and scripts", Args: cobra.NoArgs,
		Long: `Asks the running botd over its unix socket whether it is alive: its event loop ran within the
last 30 s. With --ready it asks whether botd trades on a known state: journal, clock, first
reconciliation, market data. A botd that a person or a limit has halted is alive and ready, since
a restart would not help.

Exit code 0 when all is well, 1 when it is not, 69 when botd does not answer.`,
		Example: "  botd healthcheck -c configs\n  botd healthcheck --ready -o json",
		RunE: func(command *cobra.Command, _ []string) error {
			d, err := flags.Daemon(command.Context())
			if err != nil {
				return err
			}
			path := "/healthz"
			if ready {
				path = "/readyz?verbose"
			}
			answer, status, err := d.Send(command.Context(), http.MethodGet, path, nil)
			if err != nil {
				return err
			}
			answered := health{Schema: 1}
			if err := json.Unmarshal(answer, &answered); err != nil {
				return failure.New(failure.Unavailable, "does that address belong to botd?", "the answer from %s is not botd's", d.Where)
			}
			err = shell.Print(command, answered, func(w io.Writer) {
				fmt.Fprintln(w, answered.Status)
				for _, c := range answered.Checks {
					word := "ok"
					if !c.OK {
						word = "fail"
					}
					fmt.Fprintln(w, strings.TrimSpace(fmt.Sprintf("%-5s %-14s %s", word, c.Name, c.Detail)))
				}
			})
			if err == nil && status != http.StatusOK {
				err = failure.Quiet()
			}
			return err
		},
	}
	flags.Add(command)
	command.Flags().BoolVar(&ready, "ready", false, "whether it is ready, check by check")
	return command
}
