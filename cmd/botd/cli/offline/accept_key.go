package offline

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/reconcile/journal"
	"botd/runtime/gateway"
)

func newAcceptKey() *cobra.Command {
	var directory string
	var dry bool
	command := &cobra.Command{
		Use: "accept-key", Short: "assign the journal of a replaced exchange key to the new key", Args: cobra.NoArgs,
		Long: `A journal belongs to one account of the exchange, which it identifies by the key it began with. A
running botd switches to a new key automatically when the key's files change
(docs/operations.md); this command is for a key that was replaced while botd was down, or that
botd could not recognize. It records that the key in key_file belongs to the same account. Be sure
that it does: with another account's key, botd treats that account's positions as its own. botd
must not be running (75).`,
		Example: "  botd journal accept-key -c /etc/botd --dry-run\n  botd journal accept-key -c /etc/botd",
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := connect.LoadSettings(command.Context(), directory, configs.Live, "-c DIR names the configuration")
			if err != nil {
				return err
			}
			folder := filepath.Join(config.DataDir, string(config.Mode))
			release, err := journal.Lock(folder)
			if err != nil {
				return failure.Wrap(failure.Temporary, err)
			}
			defer release()
			return acceptKey(command, config, folder, dry)
		},
	}
	command.Flags().StringVarP(&directory, "config", "c", "", "configuration directory")
	shell.DryRunFlag(command, &dry, "show both fingerprints, and record nothing")
	shell.OutputFlag(command)
	return command
}

func acceptKey(command *cobra.Command, config *configs.Config, folder string, dry bool) error {
	key, _, err := configs.ReadSecrets(config.Exchange)
	if err != nil {
		return failure.Wrap(failure.Credentials, err)
	}
	chain, err := journalKey(config)
	if err != nil {
		return err
	}
	store, err := journal.ReadKeyed(command.Context(), filepath.Join(folder, journal.FileName), chain)
	if err != nil {
		return journal.Failure(err)
	}
	defer store.Close()
	bound, err := store.Binding(command.Context())
	if err != nil {
		return journal.Failure(err)
	}
	fingerprint := gateway.Fingerprint(key)
	if !dry {
		if err := gateway.AcceptKey(folder, bound.KeyFingerprint, fingerprint); err != nil {
			return failure.Wrap(failure.IO, err)
		}
	}
	answer := map[string]any{"schema": 1, "journal": bound.KeyFingerprint, "key": fingerprint, "recorded": !dry}
	return shell.Print(command, answer, func(w io.Writer) {
		if dry {
			fmt.Fprintf(w, "the journal began with the key of fingerprint %s; key_file holds %s; nothing is recorded\n", bound.KeyFingerprint, fingerprint)
			return
		}
		fmt.Fprintf(w, "ok: the journal that began with the key of fingerprint %s now accepts that of fingerprint %s\n", bound.KeyFingerprint, fingerprint)
	})
}
