package configs_test

import (
	"testing"
	"testing/fstest"

	"botd/configs"
)

func TestADaemonIsFoundByAConfigurationWithMistakes(t *testing.T) {
	t.Parallel()
	usual := configs.Location{Mode: configs.Demo, DataDir: "./data", Listen: "127.0.0.1:8420"}
	other := configs.Location{Mode: configs.Live, DataDir: "/var/lib/botd", Listen: "off"}
	for _, c := range []struct {
		name, text string
		want       configs.Location
	}{
		{"nothing wrong", "mode: live\ndata_dir: /var/lib/botd\nlisten: off\n", other},
		{"a key nobody knows", "mode: live\ndata_dir: \"/var/lib/botd\" # here\nlisten: 'off'\nnonsense: 1\n", other},
		{"no YAML", "mode: live # real\r\ndata_dir: '/var/lib/botd'\r\nlisten: \"off\"\r\nrisk: {a: [\n\t}", other},
		{"on lines of their own", "mode:\n  live\ndata_dir:\n  /var/lib/botd\nlisten:\n  off\n", other},
		{"a mode there is not", "mode: liev\n", usual},
		{"empty", "", usual},
		{"not at its place", "risk:\n  data_dir: elsewhere\n  listen: [\n", usual},
		{"of another kind", "data_dir: [a, b]\nlisten: {x: 1}\n", usual},
	} {
		if have := configs.Locate(fstest.MapFS{"botd.yaml": {Data: []byte(c.text)}}); have != c.want {
			t.Errorf("%s: want %+v, have %+v", c.name, c.want, have)
		}
		if config, _ := configs.Load(fstest.MapFS{"botd.yaml": {Data: []byte(c.text)}}, "configs", options(t)); config != nil && config.Location() != c.want {
			t.Errorf("%s: the whole configuration has %+v, want %+v", c.name, config.Location(), c.want)
		}
	}
	if have := configs.Locate(fstest.MapFS{}); have != usual {
		t.Errorf("no file: want %+v, have %+v", usual, have)
	}
}
