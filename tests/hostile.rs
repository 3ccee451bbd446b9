//! Input that nobody should write. The program never panics, overflows a stack or hangs, its exit status is right,
//! and every part that it could not read is listed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::Folder;

/// The start of a Kong file, so that select takes what follows seriously.
const KONG: &str = "_format_version: \"3.0\"\nservices:\n- name: orders\n  host: orders\n  retries: 3\n";

/// A Rust file that retries, so that select takes it.
const RUST: &str =
    "fn load() { for _ in 0..3 { if reqwest::blocking::get(\"http://orders/\").is_ok() { return; } } }\n";

fn unread_is_told(path: &str, text: impl AsRef<[u8]>) {
    let output = Folder::with(path, text).check();
    assert_eq!(output.code(), 0, "{}", output.stdout);
    assert_eq!(output.unread_files(), [path], "{}", output.stdout);
}

fn all_is_read(path: &str, text: impl AsRef<[u8]>) -> serde_json::Value {
    let output = Folder::with(path, text).check();
    assert!(output.code() < 2, "{}", output.stderr);
    assert!(output.unread().is_empty(), "{:?}", output.unread());
    output.json()
}

/// The layers as `file:line:column`.
fn layers(json: &serde_json::Value) -> Vec<String> {
    let place = |l: &serde_json::Value| {
        let at = &l["location"];
        format!("{}:{}:{}", at["file"].as_str().unwrap(), at["line"], at["column"])
    };
    json["layers"].as_array().unwrap().iter().map(place).collect()
}

#[test]
fn empty_files_say_nothing() {
    let folder = Folder::new();
    for name in [
        "a.yaml",
        "b.json",
        "c.toml",
        "d.properties",
        "e.rs",
        "f.sql",
        "Cargo.toml",
        "nginx.conf",
        "haproxy.cfg",
        "Caddyfile",
    ] {
        folder.write(name, "").write(&format!("space/{name}"), " \n\n").write(&format!("bom/{name}"), "\u{feff}");
    }
    let output = folder.check();
    assert_eq!((output.code(), output.unread()), (0, vec![]));
    assert_eq!(output.json()["summary"]["files"], 30);
}

#[test]
fn nothing_to_lint_is_exit_status_3() {
    let output = Folder::new().check();
    assert_eq!(output.code(), 3);
    assert_eq!(output.json()["summary"]["files"], 0);
    assert!(output.stderr.contains("nothing to lint"), "{}", output.stderr);
}

#[test]
fn fifty_megabytes_without_a_mark_are_passed_over() {
    let folder = Folder::new();
    let line = "colour: [red, green, blue]\n";
    folder.write("big.yaml", line.repeat(50_000_000 / line.len()));
    let line = "pub const COLOUR: &str = \"red\";\n";
    folder.write("big.rs", line.repeat(50_000_000 / line.len()));
    let output = folder.check();
    assert_eq!((output.code(), output.unread()), (0, vec![]));
}

#[test]
fn fifty_megabytes_with_a_mark_are_read_or_told() {
    let fill = |start: &str, line: &str| format!("{start}{}", line.repeat(50_000_000 / line.len()));
    let kong = all_is_read("text.yaml", fill(&format!("{KONG}x: |\n"), &format!("  {}\n", "a".repeat(5_000))));
    assert_eq!(layers(&kong), ["text.yaml:5:12"]);
    unread_is_told("many.yaml", fill(&format!("{KONG}x:\n"), "- a: [red, green]\n"));
    unread_is_told(
        "many.json",
        fill("{\"_format_version\":\"3.0\",\"services\":[{\"retries\":3}],\"x\":[", "{\"a\":1},"),
    );
    unread_is_told("many.rs", fill(RUST, "pub const COLOUR: &str = \"red\";\n"));
}

#[test]
fn files_over_64_mebibytes_are_told() {
    unread_is_told("big.json", vec![b' '; (64 << 20) + 1]);
}

#[test]
fn invalid_utf_8_is_told() {
    for path in ["a.yaml", "a.json", "a.toml"] {
        unread_is_told(path, [KONG.as_bytes(), b"# caf\xE9\n"].concat());
    }
    unread_is_told("a.rs", [RUST.as_bytes(), b"// caf\xE9\n"].concat());
}

#[test]
fn utf_16_is_told() {
    let units = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    unread_is_told("mark.yaml", units(&format!("\u{feff}{KONG}")));
    unread_is_told("no-mark.yaml", units(KONG));
    unread_is_told("a.rs", units(RUST));
}

#[test]
fn other_encodings_are_told_only_where_they_could_matter() {
    let folder = Folder::with("colours.yaml", b"colour: caf\xE9\n");
    folder.write("colours.rs", b"pub const CAFE: &str = \"caf\xE9\";\n");
    folder.write(
        "colours.json",
        "\u{feff}{\"colour\": 1}".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
    );
    assert_eq!(folder.check().unread(), []);
    folder.write("config.yaml", b"colour: caf\xE9\n");
    let reason = "not UTF-8: byte 0xE9 in line 1".to_owned();
    assert_eq!(folder.check().unread(), [("config.yaml".to_owned(), reason)]);
}

#[test]
fn a_nul_is_told() {
    unread_is_told("a.yaml", format!("{KONG}\0"));
    unread_is_told("a.rs", format!("{RUST}\0"));
}

#[test]
fn pictures_and_archives_are_no_text() {
    let folder = Folder::new();
    folder
        .write("logo.png", b"\x89PNG\r\n\x1a\n\0\0retries")
        .write("x.tar.gz", [0x1f, 0x8b, 8, 0xff])
        .write("noname", [0xff; 9]);
    let output = folder.check();
    assert_eq!((output.code(), output.unread()), (0, vec![]));
    assert_eq!(output.json()["summary"]["files"], 3);
}

const DEPTH: usize = 10_000;

#[test]
fn deep_yaml_is_told() {
    unread_is_told("flow.yaml", format!("{KONG}  deep: {}{}\n", "[".repeat(DEPTH), "]".repeat(DEPTH)));
    unread_is_told("open.yaml", format!("{KONG}  deep: {}\n", "{a: ".repeat(DEPTH)));
    let block: String = (0..DEPTH).map(|n| format!("{}a:\n", " ".repeat(n + 2))).collect();
    unread_is_told("block.yaml", format!("{KONG}{block}"));
    unread_is_told("dashes.yaml", format!("{KONG}deep:\n  {}x\n", "- ".repeat(DEPTH)));
}

#[test]
fn deep_json_is_told() {
    let json =
        |inner: String| format!("{{\"_format_version\": \"3.0\", \"services\": [{{\"retries\": 3}}], \"x\": {inner}}}");
    unread_is_told("lists.json", json(format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH))));
    unread_is_told("maps.json", json(format!("{}1{}", "{\"a\":".repeat(DEPTH), "}".repeat(DEPTH))));
    unread_is_told("open.json", json("[".repeat(DEPTH)));
}

/// Proxies' files, each with a place after which anything may follow.
const NGINX: &str = "upstream u { server a; server b; }\nserver { location / { proxy_pass http://u; } }\n";
const HAPROXY: &str = "backend orders\n  server a orders-a:80\n  retries 3\n";
const CADDY: &str = "orders.test {\n  reverse_proxy orders:80 {\n    lb_retries 0\n  }\n}\n";

#[test]
fn deep_directives_are_told() {
    unread_is_told("nginx.conf", format!("{NGINX}{}{}", "a {".repeat(DEPTH), "}".repeat(DEPTH)));
    unread_is_told("open/nginx.conf", format!("{NGINX}{}", "a { b; ".repeat(DEPTH)));
    unread_is_told("Caddyfile", format!("{CADDY}{}{}", "a {\n".repeat(DEPTH), "}\n".repeat(DEPTH)));
    unread_is_told("open/Caddyfile", format!("{CADDY}{}", "a {\n".repeat(DEPTH)));
}

#[test]
fn directives_that_never_end_are_told() {
    for rest in ["server { location / { proxy_pass a;", "proxy_pass \"a", "}", "proxy_pass 'a", "proxy_pass a"] {
        unread_is_told("nginx.conf", format!("{NGINX}{rest}"));
    }
    for rest in ["  acl a str \"b\n", "  acl a str 'b"] {
        unread_is_told("haproxy.cfg", format!("{HAPROXY}{rest}"));
    }
    for rest in ["}\n", "a {\n", "respond \"a", "respond `a", "respond <<A\nb"] {
        unread_is_told("Caddyfile", format!("{CADDY}{rest}"));
    }
}

const POLICY: &str = "<policies>\n<retry condition='@(a)' count='0' interval='1'></retry>\n";

#[test]
fn policies_that_never_end_are_told() {
    unread_is_told("deep.xml", format!("{POLICY}{}{}</policies>", "<a>".repeat(DEPTH), "</a>".repeat(DEPTH)));
    for rest in ["<a>".repeat(DEPTH), "</b></policies>".into(), "<a b=\"".into(), "<a b=\"@((((".into(), "<!-- ".into()]
    {
        unread_is_told("open.xml", format!("{POLICY}{rest}"));
    }
    let output = Folder::with("many.xml", format!("{POLICY}{}", "<a b=\"@(\"".repeat(1_000_000))).check();
    assert!(output.code() < 2);
}

#[test]
fn bytes_of_other_encodings_move_nothing_in_proxies_files() {
    let files: [(&str, &str, &str); 3] = [
        ("nginx.conf", NGINX, "nginx.conf:2:10"),
        ("haproxy.cfg", HAPROXY, "haproxy.cfg:3:11"),
        ("Caddyfile", CADDY, "Caddyfile:3:16"),
    ];
    for (path, text, place) in files {
        for before in [&b"# caf\xE9 \xFF \0 \x01\n"[..], b"\xEF\xBB\xBF#\n"] {
            let line = place.split(':').nth(1).unwrap().parse::<u32>().unwrap();
            let moved = place.replacen(&format!(":{line}:"), &format!(":{}:", line + 1), 1);
            assert_eq!(layers(&all_is_read(path, [before, text.as_bytes()].concat())), [moved]);
        }
    }
}

#[test]
fn fifty_megabytes_of_directives_are_read_or_told() {
    let fill = |start: &str, line: &str| format!("{start}{}", line.repeat(50_000_000 / line.len()));
    all_is_read("nginx.conf", fill(NGINX, &format!("# {}\n", "a".repeat(5_000))));
    unread_is_told("many/nginx.conf", fill(NGINX, "a b;\n"));
    unread_is_told("many/haproxy.cfg", fill(HAPROXY, "  a b\n"));
    unread_is_told("many/Caddyfile", fill(CADDY, "a b\n"));
    // Openings of templates and texts that nothing closes.
    for opening in ["<% ", "{% ", "a {{ ", "\\"] {
        let output = Folder::with("nginx.conf", format!("{NGINX}{}", opening.repeat(1_000_000))).check();
        assert!(output.code() < 2, "{opening}");
    }
}

#[test]
fn files_that_include_each_other_end() {
    let folder = Folder::with("nginx/nginx.conf", format!("include conf.d/*.conf;\n{NGINX}"));
    for n in 0..40 {
        let text = format!("include conf.d/*.conf;\nlocation /{n} {{ include conf.d/*.conf; proxy_pass http://u; }}\n");
        folder.write(&format!("nginx/conf.d/{n}.conf"), text);
    }
    let output = folder.check();
    assert!(output.code() < 2 && output.unread().is_empty(), "{}", output.stdout);
}

#[test]
fn deep_toml_is_told() {
    let toml = |line: String| format!("[package]\nname = \"x\"\n[dependencies]\nbackon = \"1\"\n[x]\n{line}\n");
    unread_is_told("lists/Cargo.toml", toml(format!("a = {}{}", "[".repeat(DEPTH), "]".repeat(DEPTH))));
    unread_is_told("maps/Cargo.toml", toml(format!("a = {}1{}", "{ a = ".repeat(DEPTH), " }".repeat(DEPTH))));
    unread_is_told("dots/Cargo.toml", toml(format!("a{} = 1", ".a".repeat(DEPTH))));
}

#[test]
fn deep_rust_is_told() {
    let with = |body: String| format!("{RUST}fn deep() {{ {body} }}\n");
    let pairs = [("(", ")"), ("[", "]"), ("{", "}")];
    for (open, close) in pairs {
        for depth in [DEPTH, 10 * DEPTH] {
            unread_is_told("a.rs", with(format!("let x = {}1{};", open.repeat(depth), close.repeat(depth))));
        }
    }
    unread_is_told("generics.rs", with(format!("let x: {}u8{};", "Vec<".repeat(DEPTH), ">".repeat(DEPTH))));
    unread_is_told("unary.rs", with(format!("let x = {}1;", "-".repeat(DEPTH))));
    unread_is_told("references.rs", with(format!("let x: {}u8 = y;", "&".repeat(DEPTH))));
}

#[test]
fn deep_sql_is_read_or_told() {
    let purge = "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox ORDER BY id LIMIT 100);\n";
    for depth in [1_000, DEPTH, 10 * DEPTH] {
        let (open, close) = ("(".repeat(depth), ")".repeat(depth));
        let deep = format!("{purge}DELETE FROM inbox WHERE id = {open}1{close};\n{purge}");
        let output = Folder::with("a.sql", deep).check();
        let lines: Vec<_> =
            output.json()["findings"].as_array().unwrap().iter().map(|f| f["location"]["line"].clone()).collect();
        assert!(output.code() < 2 && lines.contains(&1.into()) && lines.contains(&3.into()), "{}", output.stdout);
        assert_eq!(output.unread_files(), ["a.sql"]);
    }
}

#[test]
fn long_rust_chains_end_one_way_or_the_other() {
    for body in [
        format!("let x = 1{};", " + 1".repeat(DEPTH)),
        format!("x{};", ".a()".repeat(DEPTH)),
        format!("if a {{}}{}", " else if a {}".repeat(DEPTH)),
        format!("let x = y{};", "?".repeat(DEPTH)),
        format!("a{};", "::b".repeat(DEPTH)),
    ] {
        let output = Folder::with("a.rs", format!("{RUST}fn long() {{ {body} }}\n")).check();
        let found = !layers(&output.json()).is_empty();
        assert!(output.code() < 2);
        assert_ne!(found, !output.unread().is_empty(), "read, or told to be unread: {}", output.stdout);
    }
}

#[test]
fn an_anchor_bomb_is_told() {
    let mut text = format!("{KONG}bomb:\n  l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let below = format!("*l{}", n - 1);
        text += &format!("  l{n}: &l{n} [{}]\n", [below.as_str(); 10].join(", "));
    }
    unread_is_told("bomb.yaml", text);
}

#[test]
fn a_cyclic_alias_is_told() {
    unread_is_told("cycle.yaml", format!("{KONG}loop: &a\n  self: *a\n"));
    unread_is_told("merge.yaml", format!("{KONG}loop: &a\n  <<: *a\n"));
}

#[test]
fn the_other_documents_of_a_broken_stream_are_read() {
    let output = Folder::with("a.yaml", format!("x: [1\n---\n{KONG}")).check();
    assert_eq!(output.unread_files(), ["a.yaml"]);
    assert_eq!(layers(&output.json()), ["a.yaml:7:12"]);
}

#[test]
fn duplicate_keys_are_read_or_told() {
    let output = Folder::with("a.yaml", format!("{KONG}  retries: 4\n")).check();
    assert!(output.code() < 2);
    assert_eq!(layers(&output.json()), ["a.yaml:6:12"]);
}

#[test]
fn line_ends_marks_and_tabs_move_nothing() {
    let crlf = all_is_read("a.yaml", KONG.replace('\n', "\r\n"));
    assert_eq!(layers(&crlf), ["a.yaml:5:12"]);
    let bom = all_is_read("a.yaml", format!("\u{feff}{KONG}"));
    assert_eq!(layers(&bom), ["a.yaml:5:12"]);
    let json = "{\r\n\t\"_format_version\": \"3.0\",\r\n\t\"services\": [{\"name\": \"a\", \"host\": \"a\",\r\n\t\t\"retries\": 3}]\r\n}";
    assert_eq!(layers(&all_is_read("a.json", json)), ["a.json:4:14"]);
    assert_eq!(layers(&all_is_read("b.json", format!("\u{feff}{json}"))), ["b.json:4:14"]);
}

#[test]
fn tabs_that_yaml_forbids_are_told() {
    unread_is_told("a.yaml", format!("{KONG}x:\n\ty: 1\n"));
}

#[test]
fn strict_makes_what_is_unread_fail() {
    let folder = Folder::with("a.yaml", format!("{KONG}\0"));
    assert_eq!(folder.retrylint(&["check", "--strict"]).code(), 1);
    assert_eq!(folder.retrylint(&["check"]).code(), 0);
}

#[test]
fn services_that_stand_for_each_other_end() {
    let service = |name: &str, other: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{type: ExternalName, externalName: {other}}}\n---\n"
        )
    };
    let mut text = String::new();
    for _ in 0..8 {
        text += &(service("a", "b") + &service("b", "c") + &service("c", "a"));
    }
    text += "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: a}\nspec:\n  hosts: [a]\n  http:\n  \
             - route: [{destination: {host: a}}]\n    retries: {attempts: 2, retryOn: \"503\"}\n";
    assert_eq!(layers(&all_is_read("services.yaml", text)).len(), 1);
}

#[test]
fn very_many_objects_are_linked() {
    let mut kong = "_format_version: \"3.0\"\nservices:\n".to_owned();
    let mut mesh = String::new();
    for n in 0..4_000 {
        kong += &format!("- {{name: s{n}, host: h{n}, retries: 3}}\n");
        mesh += &format!(
            "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: m{n}}}\nspec:\n  hosts: [h{n}]\n  \
             http:\n  - route: [{{destination: {{host: h{n}}}}}]\n    retries: {{attempts: 1, retryOn: reset}}\n---\n"
        );
    }
    let output = Folder::with("kong.yaml", kong).write("mesh.yaml", mesh).check();
    assert_eq!(output.json()["layers"].as_array().unwrap().len(), 8_000);
}

#[test]
fn environments_side_by_side_keep_their_own_hosts() {
    let folder = Folder::new();
    for environment in ["prod", "staging"] {
        let clusters = format!(
            "resources:\n- \"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: orders\n  load_assignment:\n    \
             endpoints: [{{lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: orders.{environment}.example, \
             port_value: 80}}}}}}}}]}}]\n"
        );
        let routes = "resources:\n- \"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\n  name: edge\n  \
                      virtual_hosts:\n  - name: shop\n    domains: [\"*\"]\n    routes:\n    - match: {prefix: /}\n      route: \
                      {cluster: orders, retry_policy: {retry_on: 5xx, num_retries: 20}}\n";
        folder.write(&format!("envs/{environment}/cds.yaml"), clusters);
        folder.write(&format!("envs/{environment}/rds.yaml"), routes);
    }
    let json = folder.check().json();
    let mut targets: Vec<String> = json["layers"].as_array().unwrap().iter().map(|l| l["target"].to_string()).collect();
    targets.sort();
    assert_eq!(targets, ["\"orders.prod.example\"", "\"orders.staging.example\""]);
}

#[test]
fn lists_that_hold_each_other_twice_are_copied_once() {
    let mut text = "fn load() {\nlet a0 = [1, 1];\n".to_owned();
    for n in 1..60 {
        text += &format!("let a{n} = [a{0}, a{0}];\n", n - 1);
    }
    text += "let z = a59.clone();\nfor _ in 0..3 { if reqwest::blocking::get(\"http://orders/\").is_ok() { return; } }\n}\n";
    let output = Folder::with("src/main.rs", text).check();
    assert_eq!(output.json()["layers"].as_array().unwrap().len(), 1, "{}", output.stdout);
}
