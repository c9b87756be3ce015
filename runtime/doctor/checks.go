package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"botd/configs"
	"botd/runtime/notify/channels"
)

// This file checks the program's surroundings: files, disk, journal, venue, daemon.

// unreadable returns the errors of reading the configured tokens and addresses: botd run would end
// with them.
func unreadable(config *configs.Config) (all []error) {
	directory := config.Exchange.CredentialsDirectory
	add := func(err error) {
		if err != nil {
			all = append(all, err)
		}
	}
	if config.Signals.Listen != "" {
		_, err := configs.ReadSignalToken(&config.Signals, directory)
		add(err)
	}
	if config.Telegram.On() {
		_, err := configs.ReadTelegramToken(&config.Telegram, directory)
		add(err)
	}
	for i := range config.Notify.Channels {
		_, err := channels.Open(config, &config.Notify.Channels[i])
		add(err)
	}
	return all
}

// Bounds of the disk.
const (
	enoughFree = 1 << 30
	slowSync   = 50 * time.Millisecond
	syncTries  = 5
)

// existing returns a directory, or its nearest existing parent: the check creates none.
func existing(directory string) string {
	for {
		if _, err := os.Stat(directory); err == nil || directory == filepath.Dir(directory) {
			return directory
		}
		directory = filepath.Dir(directory)
	}
}

// timeSync measures a small durable write, the median of several.
func timeSync(directory string) (median time.Duration, err error) {
	file, err := os.CreateTemp(directory, ".doctor-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	var took []time.Duration
	for range syncTries {
		began := time.Now()
		if _, err := file.Write(make([]byte, 4096)); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// Bounds of the clock.
const (
	clockSlight = time.Second
	clockFar    = 30 * time.Second
)
