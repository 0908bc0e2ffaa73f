package registry

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGo(t *testing.T) {
	password, token := fake(""), fake("ghp_")
	for _, test := range []row{
		{"a proxy with a login, then the public one", map[string]string{
			"~/.config/go/env": "GOPROXY=https://bob:" + password + "@go.acme.dev/goproxy|https://proxy.golang.org,direct\nGONOSUMDB=go.acme.dev/*\nGOFLAGS=-mod=mod\n"}, nil, result{
			Hosts:       []string{"go.acme.dev:443/goproxy private", "proxy.golang.org:443", "sum.golang.org:443"},
			Credentials: []string{"go:go.acme.dev/goproxy basic [go.acme.dev] [auth] [/goproxy] = " + password},
			Files:       map[string]string{".config/go/env": "GOPROXY=https://bob:<go:go.acme.dev/goproxy>@go.acme.dev/goproxy|https://proxy.golang.org,direct\nGONOSUMDB=go.acme.dev/*\n"},
		}},
		{"environment, a login from netrc, no checksums", map[string]string{"~/n": "machine go.acme.dev login bob password " + password, "~/.config/go/env": "GOPROXY=off\n"},
			[]string{"GOPROXY=https://go.acme.dev,file:///x", "GOSUMDB=off", "NETRC=/home/u/n"}, result{
				Hosts:       []string{"go.acme.dev:443 private"},
				Credentials: []string{"netrc:go.acme.dev basic [go.acme.dev] [auth] [] = " + password},
				Files:       map[string]string{".config/go/env": "GOPROXY=https://go.acme.dev\nGOSUMDB=off\n", ".netrc": "machine go.acme.dev login bob password <netrc:go.acme.dev>\n"},
				Notes:       []string{"GOPROXY: " + errURL.Error()},
			}},
		{"go is told not to ask netrc", map[string]string{"~/.netrc": "machine go.acme.dev login bob password " + password}, []string{"GOPROXY=https://go.acme.dev", "GOAUTH=off"}, result{
			Hosts: []string{"go.acme.dev:443 private", "sum.golang.org:443"},
			Files: map[string]string{".config/go/env": "GOPROXY=https://go.acme.dev\n"},
		}},
		{"a checksum database of its own", nil, []string{"GOSUMDB=sum.acme.dev+0a1b2c3d+AbCd= https://sums.acme.dev/db", "GOENV=off"}, result{
			Hosts: []string{"proxy.golang.org:443", "sums.acme.dev:443/db private"},
			Files: map[string]string{".config/go/env": "GOSUMDB=sum.acme.dev+0a1b2c3d+AbCd= https://sums.acme.dev/db\n"},
		}},
		{"private modules", map[string]string{"~/.config/go/env": "GOPRIVATE=git.acme.dev\n"}, nil, result{
			Hosts: []string{"proxy.golang.org:443", "sum.golang.org:443"},
			Files: map[string]string{".config/go/env": "GOPRIVATE=git.acme.dev\n"},
			Notes: []string{"~/.config/go/env:1: modules that GOPRIVATE names are fetched with git, which no registry is: only those in the module cache or in vendor/ are there"},
		}},
		{"a token in the place of the user", nil, []string{"GOPROXY=https://" + token + ":x-oauth-basic@go.acme.dev"}, result{
			Hosts:       []string{"go.acme.dev:443 private", "sum.golang.org:443"},
			Credentials: []string{"go:go.acme.dev#user basic [go.acme.dev] [auth] [] = " + token, "go:go.acme.dev basic [go.acme.dev] [auth] [] = x-oauth-basic"},
			Files:       map[string]string{".config/go/env": "GOPROXY=https://<go:go.acme.dev#user>:<go:go.acme.dev>@go.acme.dev\n"},
		}},
		{"nothing at all", nil, []string{"GOPROXY=off", "GOSUMDB=off"}, result{Files: map[string]string{".config/go/env": "GOPROXY=off\nGOSUMDB=off\n"}}},
	} {
		test.run(t, "go")
	}
}

func TestCargo(t *testing.T) {
	token, password := fake(""), fake("pw")
	for _, test := range []row{
		{"a registry with a token", map[string]string{
			"~/.cargo/config.toml":      "[registries]\nacme = { index = \"sparse+https://cargo.acme.dev/api/index/\" }\n[net]\ngit-fetch-with-cli = true\n",
			"~/.cargo/credentials.toml": "[registry]\ntoken = \"" + password + "\"\n[registries.acme]\ntoken = \"Bearer " + token + "\"\n"}, nil, result{
			Hosts:       []string{"cargo.acme.dev:443/api private", "index.crates.io:443", "static.crates.io:443"},
			Credentials: []string{"cargo:cargo.acme.dev/api replace [cargo.acme.dev] [auth] [/api] = " + token},
			Files: map[string]string{".cargo/config.toml": "[registries.acme]\nindex = \"sparse+https://cargo.acme.dev/api/index/\"\n[registry]\nglobal-credential-providers = [\"cargo:token\"]\n",
				".cargo/credentials.toml": "[registries.acme]\ntoken = \"Bearer <cargo:cargo.acme.dev/api>\"\n"},
		}},
		{"a mirror of crates.io, from variables", map[string]string{"/c/config": "[source.crates-io]\nreplace-with = \"acme\"\n"},
			[]string{"CARGO_HOME=/c", "CARGO_REGISTRIES_ACME_INDEX=sparse+https://cargo.acme.dev/", "CARGO_REGISTRIES_ACME_TOKEN=" + token}, result{
				Hosts:       []string{"cargo.acme.dev:443 private"},
				Credentials: []string{"cargo:cargo.acme.dev replace [cargo.acme.dev] [auth] [] = " + token},
				Files: map[string]string{".cargo/config.toml": "[registries.acme]\nindex = \"sparse+https://cargo.acme.dev/\"\n[source.crates-io]\nreplace-with = \"acme\"\n[registry]\nglobal-credential-providers = [\"cargo:token\"]\n",
					".cargo/credentials.toml": "[registries.acme]\ntoken = \"<cargo:cargo.acme.dev>\"\n"},
			}},
		{"a source in the place of crates.io", map[string]string{"~/.cargo/config.toml": "[source]\ncrates-io.replace-with = 'm'\n[source.m]\nregistry = \"sparse+https://m.acme.dev/index/\"\n"}, nil, result{
			Hosts: []string{"m.acme.dev:443 private"},
			Files: map[string]string{".cargo/config.toml": "[source.crates-io]\nreplace-with = \"m\"\n[source.m]\nregistry = \"sparse+https://m.acme.dev/index/\"\n"},
		}},
		{"indexes in git, and folders", map[string]string{"~/.cargo/config.toml": "[registries.g]\nindex = \"https://git.acme.dev/i\"\n[source.crates-io]\nreplace-with = \"v\"\n[source.v]\ndirectory = \"/v\"\n"}, nil, result{
			Notes: []string{"~/.cargo/config.toml:2: index left out: only sparse ones, sparse+https://, are read without git",
				"~/.cargo/config.toml:4: source left out: what stands in its place is no registry that can be read here"},
		}},
	} {
		test.run(t, "cargo")
	}
	basic := Read(source(map[string]string{"~/.cargo/config.toml": "[registries.a]\nindex = \"sparse+https://a.acme.dev/\"\ntoken = \"Basic " + b64("bob:"+password) + "\"\n"}))
	if len(basic.Credentials) != 1 || basic.Credentials[0].Real.Reveal() != password || !strings.Contains(string(basic.Files[1].Content), b64("bob:"+basic.Credentials[0].Shadow)) {
		t.Errorf("a token of Basic: %+v", basic)
	}
	mustHide(t, basic)
}

const mavenFile = `<?xml version="1.0" encoding="UTF-8"?>
<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0">
  <localRepository>/home/u/m2</localRepository>
  <proxies><proxy><host>p</host><password>unused</password></proxy></proxies>
  <servers>
    <server><id>acme</id><username>bob</username><password>${env.ACME_PW}</password></server>
    <server><id>lab</id><configuration><httpHeaders><property><name>Private-Token</name><value>LAB</value></property></httpHeaders></configuration></server>
    <server><id>nowhere</id><username>a</username><password>b</password></server>
    <server><id>sealed</id><username>a</username><password>{COQLCE6DU6GtcS5P=}</password></server>
  </servers>
  <mirrors>
    <mirror><id>acme</id><mirrorOf>*,!lab</mirrorOf><url>https://nexus.acme.dev/repository/all/</url></mirror>
    <mirror><id>block</id><mirrorOf>external:http:*</mirrorOf><url>http://0.0.0.0/</url><blocked>true</blocked></mirror>
  </mirrors>
  <profiles>
    <profile><id>p</id><activation><activeByDefault>true</activeByDefault></activation><properties><secret>x</secret></properties>
      <repositories><repository><id>lab</id><url>https://lab.acme.dev/api/v4/groups/1/-/packages/maven</url><snapshots><enabled>true</enabled></snapshots></repository></repositories>
      <pluginRepositories><pluginRepository><id>sealed</id><url>https://sealed.acme.dev</url></pluginRepository></pluginRepositories>
    </profile>
  </profiles>
  <activeProfiles><activeProfile>p</activeProfile></activeProfiles>
</settings>
`

func TestMaven(t *testing.T) {
	password, token := fake(""), fake("glpat-")
	for _, test := range []row{
		{"mirrors, servers, profiles", map[string]string{"~/.m2/settings.xml": strings.Replace(mavenFile, "LAB", token, 1)}, []string{"ACME_PW=" + password}, result{
			Hosts: []string{"nexus.acme.dev:443/repository/all private", "lab.acme.dev:443/api/v4/groups/1/-/packages/maven private", "sealed.acme.dev:443 private"},
			Credentials: []string{"maven:nexus.acme.dev/repository/all basic [nexus.acme.dev] [auth] [/repository/all] = " + password,
				"maven:lab.acme.dev/api/v4/groups/1/-/packages/maven replace [lab.acme.dev] [header:private-token] [/api/v4/groups/1/-/packages/maven] = " + token},
			Files: map[string]string{".m2/settings.xml": `<settings>
  <servers>
    <server>
      <id>acme</id>
      <username>bob</username>
      <password><maven:nexus.acme.dev/repository/all></password>
      <configuration>
        <httpHeaders></httpHeaders>
      </configuration>
    </server>
    <server>
      <id>lab</id>
      <configuration>
        <httpHeaders>
          <property>
            <name>Private-Token</name>
            <value><maven:lab.acme.dev/api/v4/groups/1/-/packages/maven></value>
          </property>
        </httpHeaders>
      </configuration>
    </server>
  </servers>
  <mirrors>
    <mirror>
      <id>acme</id>
      <mirrorOf>*,!lab</mirrorOf>
      <url>https://nexus.acme.dev/repository/all/</url>
    </mirror>
  </mirrors>
  <profiles>
    <profile>
      <id>p</id>
      <activation>
        <activeByDefault>true</activeByDefault>
      </activation>
      <repositories>
        <repository>
          <id>lab</id>
          <url>https://lab.acme.dev/api/v4/groups/1/-/packages/maven</url>
          <snapshots>
            <enabled>true</enabled>
          </snapshots>
        </repository>
      </repositories>
      <pluginRepositories>
        <pluginRepository>
          <id>sealed</id>
          <url>https://sealed.acme.dev</url>
        </pluginRepository>
      </pluginRepositories>
    </profile>
  </profiles>
  <activeProfiles>
    <activeProfile>p</activeProfile>
  </activeProfiles>
</settings>
`},
			Notes: []string{"~/.m2/settings.xml: server 3 left out: no mirror and no repository here has its id",
				"~/.m2/settings.xml: server 4 left out: it is encrypted with a key of Maven's own"},
		}},
		{"a repository beside Maven Central", map[string]string{"~/.m2/settings.xml": "<settings><profiles><profile><id>p</id><repositories><repository><id>a</id><url>https://a.acme.dev/m2</url></repository></repositories></profile></profiles></settings>"}, nil, result{
			Hosts: []string{"a.acme.dev:443/m2 private", "repo.maven.apache.org:443"},
			Files: map[string]string{".m2/settings.xml": "<settings>\n  <servers></servers>\n  <mirrors></mirrors>\n  <profiles>\n    <profile>\n      <id>p</id>\n      <activation></activation>\n      <repositories>\n        <repository>\n          <id>a</id>\n          <url>https://a.acme.dev/m2</url>\n        </repository>\n      </repositories>\n      <pluginRepositories></pluginRepositories>\n    </profile>\n  </profiles>\n  <activeProfiles></activeProfiles>\n</settings>\n"},
		}},
	} {
		test.run(t, "maven")
	}
}

func TestGradle(t *testing.T) {
	password := fake("")
	public := []string{"repo.maven.apache.org:443", "plugins.gradle.org:443"}
	for _, test := range []row{
		{"properties that belong together", map[string]string{"~/.gradle/gradle.properties": "org.gradle.jvmargs=-Xmx2g\nartifactory_contextUrl=https\\://art.acme.dev/artifactory\nartifactory_user=bob\nartifactory_password=" + password +
			"\nsystemProp.http.proxyPassword=x\nsonarUrl=https://sonar.acme.dev\n"}, nil, result{
			Hosts:       append(public, "art.acme.dev:443/artifactory private"),
			Credentials: []string{"gradle:art.acme.dev/artifactory basic [art.acme.dev] [auth] [/artifactory] = " + password},
			Files:       map[string]string{".gradle/gradle.properties": "artifactory_contextUrl=https://art.acme.dev/artifactory\nartifactory_user=bob\nartifactory_password=<gradle:art.acme.dev/artifactory>\n"},
		}},
		{"init scripts", map[string]string{
			"~/.gradle/init.d/b.gradle.kts": "allprojects { repositories { maven { url = uri(\"https://b.acme.dev/m2\") } } }\n",
			"~/.gradle/init.d/a.gradle":     "maven { url 'https://a.acme.dev/m2'; credentials { password '" + password + "' } }\n",
			"~/.gradle/init.d/c.txt":        "url 'https://c.acme.dev/m2'\n"}, nil, result{
			Hosts: append(public, "a.acme.dev:443/m2 private", "b.acme.dev:443/m2 private"),
		}},
	} {
		test.run(t, "gradle")
	}
}

func TestBundler(t *testing.T) {
	password, token := fake(""), fake("")
	row{"mirror and logins", map[string]string{"~/.bundle/config": "---\nBUNDLE_JOBS: \"4\"\nBUNDLE_BUILD__NOKOGIRI: \"--use-system-libraries\"\nBUNDLE_PATH__SYSTEM: \"true\"\n" +
		"BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://gems.acme.dev/all\"\nBUNDLE_MY___GEMS__ACME__DEV: \"bob:" + password + "\"\nBUNDLE_GEM__FURY__IO: " + token + "\n"}, nil, result{
		Hosts: []string{"gems.acme.dev:443/all private", "my-gems.acme.dev:443 private", "gem.fury.io:443 private"},
		Credentials: []string{"bundler:my-gems.acme.dev basic [my-gems.acme.dev] [auth] [] = " + password,
			"bundler:gem.fury.io#user basic [gem.fury.io] [auth] [] = " + token},
		Files: map[string]string{".bundle/config": "---\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://gems.acme.dev/all\"\n" +
			"BUNDLE_MY___GEMS__ACME__DEV: \"bob:<bundler:my-gems.acme.dev>\"\nBUNDLE_GEM__FURY__IO: \"<bundler:gem.fury.io#user>\"\n"},
	}}.run(t, "bundler")
}

// TestMavenHeaders: the value behind a scheme is what is swapped; of Basic it is
// the whole header.
func TestMavenHeaders(t *testing.T) {
	token := fake("")
	for _, test := range []struct{ name, value, real, file string }{
		{"Bearer", "Bearer " + token, token, "<value>Bearer <maven:a.acme.dev></value>"},
		{"Basic", "Basic " + b64("bob:"+token), "Basic " + b64("bob:"+token), "<value><maven:a.acme.dev></value>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rs := Read(source(map[string]string{"~/.m2/settings.xml": "<settings><servers><server><id>a</id><configuration><httpHeaders><property><name>Authorization</name><value>" + test.value +
				"</value></property></httpHeaders></configuration></server></servers><mirrors><mirror><id>a</id><mirrorOf>*</mirrorOf><url>https://a.acme.dev</url></mirror></mirrors></settings>"}))
			got := resultOf(rs, "maven")
			want := []string{"maven:a.acme.dev replace [a.acme.dev] [auth] [] = " + test.real}
			if diff := cmp.Diff(want, got.Credentials); diff != "" {
				t.Errorf("credentials (-want +got):\n%s", diff)
			}
			if !strings.Contains(got.Files[".m2/settings.xml"], test.file) {
				t.Errorf("settings.xml without %s:\n%s", test.file, got.Files[".m2/settings.xml"])
			}
			mustHide(t, rs)
		})
	}
}
