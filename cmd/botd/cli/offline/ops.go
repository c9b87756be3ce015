package offline

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/runtime/ops"
)

// NewOps returns the command botd ops.
func NewOps() *cobra.Command {
	return shell.Group("ops", "monitoring: alert rules, a dashboard, a systemd unit",
		`Generates what is needed to run botd unattended, from the code that registers the metrics, so
that rules and dashboard refer only to existing ones.`,
		"  botd ops rules > botd.rules.yml\n  botd ops dashboard > botd-overview.json\n"+
			"  botd ops unit --mode live > /etc/systemd/system/botd.service",
		newOpsRules(), newOpsDashboard(), newOpsUnit(), newOpsMetrics())
}

func newOpsRules() *cobra.Command {
	severities := map[string]int{}
	for _, alert := range ops.Alerts() {
		severities[alert.Severity]++
	}
	return &cobra.Command{
		Use: "rules", Short: "recording and alert rules for Prometheus", Args: cobra.NoArgs,
		Long: fmt.Sprintf(`Prints %d recording rules and %d alerts: %d that page (somebody must act at once), %d
tickets, and %d that always fires, to monitor the alerting path. The annotations of each alert
explain its meaning and what to do. Scrape botd under a job whose name begins with botd, one job
per account.`, len(ops.Recordings()), len(ops.Alerts()), severities[ops.Page], severities[ops.Ticket], severities[ops.None]),
		Example: "  botd ops rules > botd.rules.yml && promtool check rules botd.rules.yml",
		RunE: func(command *cobra.Command, _ []string) error {
			text, err := ops.RulesYAML()
			if err != nil {
				return failure.Wrap(failure.Internal, err)
			}
			_, err = io.WriteString(command.OutOrStdout(), text)
			return err
		},
	}
}

func newOpsDashboard() *cobra.Command {
	return &cobra.Command{
		Use: "dashboard", Short: "a Grafana dashboard of everything", Args: cobra.NoArgs,
		Long:    "Prints a dashboard that Grafana imports: state, money, orders and risk, exchange and market\ndata, strategies, process.",
		Example: "  botd ops dashboard > /etc/grafana/provisioning/dashboards/botd-overview.json",
		RunE: func(command *cobra.Command, _ []string) error {
			text, err := ops.DashboardJSON()
			if err != nil {
				return failure.Wrap(failure.Internal, err)
			}
			_, err = command.OutOrStdout().Write(text)
			return err
		},
	}
}

func newOpsUnit() *cobra.Command {
	unit := ops.Unit{StopAfter: 45}
	watchdog := 2 * time.Minute
	command := &cobra.Command{
		Use: "unit", Short: "a hardened systemd unit", Args: cobra.NoArgs,
		Long: `Prints a systemd unit: a dynamic user with access only to configuration and state, the key
as a credential, a watchdog fed by finished rounds, and
reload by SIGHUP. systemd-analyze security rates it 1.2.`,
		Example: "  botd ops unit --mode live > /etc/systemd/system/botd.service\n  systemctl enable --now botd",
		RunE: func(command *cobra.Command, _ []string) error {
			switch configs.Mode(unit.Mode) {
			case configs.Demo, configs.Paper, configs.Live:
			default:
				return failure.Usagef("--mode %s: demo, paper or live", unit.Mode)
			}
			if watchdog < 30*time.Second {
				return failure.Usagef("--watchdog %s is below 30s: a round may take that long", watchdog)
			}
			unit.Watchdog = int(watchdog.Seconds())
			if unit.Binary == "" {
				path, err := os.Executable()
				if err != nil {
					return failure.Wrap(failure.IO, err)
				}
				unit.Binary = path
			}
			if !filepath.IsAbs(unit.Binary) || !filepath.IsAbs(unit.Config) {
				return failure.Usagef("--binary and --config are absolute paths in a unit")
			}
			_, err := io.WriteString(command.OutOrStdout(), ops.UnitFile(unit))
			return err
		},
	}
	f := command.Flags()
	f.StringVar(&unit.Mode, "mode", string(configs.Demo), "demo, paper or live")
	f.StringVar(&unit.Binary, "binary", "", "path of botd (default: this program)")
	f.StringVarP(&unit.Config, "config", "c", "/etc/botd", "configuration directory")
	f.DurationVar(&watchdog, "watchdog", watchdog, "time without a finished round after which systemd restarts botd")
	return command
}

func newOpsMetrics() *cobra.Command {
	command := &cobra.Command{
		Use: "metrics", Short: "every metric family", Args: cobra.NoArgs,
		Long:    "Lists the metrics behind /metrics: name, kind, labels, meaning.",
		Example: "  botd ops metrics\n  botd ops metrics -o csv=name,kind",
		RunE: func(command *cobra.Command, _ []string) error {
			rows := ops.NewMetrics("demo", ops.Build{}).Families()
			return shell.Print(command, rows, func(w io.Writer) {
				for _, r := range rows {
					fmt.Fprintf(w, "%-9s %s %v\n          %s\n", r.Kind, r.Name, r.Labels, r.Help)
				}
			})
		},
	}
	shell.OutputFlag(command)
	return command
}
