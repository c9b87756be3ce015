package research

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"botd/backtest"
	"botd/backtest/report"
	"botd/backtest/resultstore"
	"botd/internal/failure"
)

// newSweepReport returns the command that writes a sweep's page.
func newSweepReport() *cobra.Command {
	var flags sweepsFlags
	var out string
	var reports int
	command := &cobra.Command{
		Use: "report NAME", Short: "write a sweep as one HTML page", Args: cobra.ExactArgs(1),
		Long: `Writes a sweep that botd sweep run --name NAME saved as one page that opens offline: the verdict,
compared with what luck would produce in as many trials; a heat map of each pair of settings;
parallel coordinates of all trials; in-sample against out-of-sample results; and the results of the
settings near the best one. NAME may be the path of its file. With --reports N the rows of the N
best trials link to their reports, which are written next to the page.`,
		Example: "  botd sweep report first --out first.html\n  botd sweep report first --reports 5",
		RunE: func(command *cobra.Command, names []string) error {
			result, err := flags.read(command, names[0])
			if err != nil {
				return err
			}
			if out == "" {
				out = strings.TrimSuffix(filepath.Base(names[0]), ".json") + ".html"
			}
			link, err := writeTrialReports(command, &flags, names[0], out, result, reports)
			if err == nil {
				err = failure.Wrap(failure.IO, report.WriteSweepFile(out, result, link))
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "%s\n%s\n", result.Verdict(), out)
			return nil
		},
	}
	command.Flags().StringVar(&out, "out", "", "the page's file (default: NAME.html)")
	command.Flags().IntVar(&reports, "reports", 0, "also write the reports of this many of the best trials, into the page's name-trials, and link them")
	flags.locate(command)
	return command
}

// writeTrialReports writes the reports of the best trials next to a sweep's page, and returns their links.
func writeTrialReports(command *cobra.Command, flags *sweepsFlags, name, page string, result *resultstore.Sweep, count int) (report.TrialLink, error) {
	if count == 0 {
		return nil, nil
	}
	if count < 0 || count > report.MaxTrialRows {
		return nil, failure.Usagef("--reports %d: from 1 to %d", count, report.MaxTrialRows)
	}
	runs, err := openTrials(command, flags, name, false)
	if err != nil {
		return nil, err
	}
	count = min(count, len(result.Trials))
	folder := strings.TrimSuffix(page, filepath.Ext(page)) + "-trials"
	for i := range result.Trials[:count] {
		if _, err := runs.report(command, &result.Trials[i], filepath.Join(folder, strconv.Itoa(i+1))); err != nil {
			return nil, err
		}
	}
	return func(place int, _ *backtest.Trial) string {
		if place > count {
			return ""
		}
		return path.Join(filepath.Base(folder), strconv.Itoa(place), "report.html")
	}, nil
}
