use super::*;
use crate::systems::Version;

fn names() -> Names {
    Names { rules: vec!["missing-jitter", "retry-amplification"], systems: vec!["istio", "kong"] }
}

fn source(text: &str) -> SourceFile {
    SourceFile { id: CONFIG_FILE_ID, path: CONFIG_NAME.into(), text: text.into() }
}

fn good(text: &str) -> Config {
    parse(&source(text), &names()).unwrap()
}

/// What is wrong: the text that each problem points at, what it says and what it offers.
fn wrong(text: &str) -> Vec<(String, String, String)> {
    let problems = parse(&source(text), &names()).unwrap_err();
    problems
        .into_iter()
        .map(|p| (text.get(p.span.range()).unwrap().to_owned(), p.message, p.help.unwrap_or_default()))
        .collect()
}

#[test]
fn every_key_is_read() {
    let text = r#"
max-amplification = 20
fail-on = "never"
notes = true
strict = true
include-tests = true
include-generated = true
exclude = ["legacy", "*.gen.yaml"]

[rules]
missing-jitter = "warning"
retry-amplification = "off"

[[override]]
paths = ["tools/**"]
rules = { missing-jitter = "off" }

[[service]]
name = "orders"
paths = ["services/orders"]
hosts = ["orders.shop.svc"]
calls = ["inventory"]

[[service]]
name = "billing"

[systems]
istio = "1.23"
kong = "v3.4.1"
"#;
    let config = good(text);
    let place = |of: &str| {
        let at = text.find(of).unwrap();
        Some(Span::new(CONFIG_FILE_ID, at, at + of.split(' ').next().unwrap().len()))
    };
    let level = |rule: &str, level, at| RuleLevel { rule: rule.to_owned(), level, place: place(at) };
    assert_eq!((config.max_amplification, config.fail_on), (20, None));
    assert!(config.notes && config.strict && config.include_tests && config.include_generated);
    assert_eq!(config.exclude, ["legacy", "*.gen.yaml"]);
    assert_eq!(
        config.levels,
        [
            level("missing-jitter", Some(Severity::Warning), "missing-jitter = \"w"),
            level("retry-amplification", None, "retry-amplification =")
        ]
    );
    assert_eq!(
        config.overrides,
        [PathLevels {
            paths: vec!["tools/**".into()],
            levels: vec![level("missing-jitter", None, "missing-jitter = \"off\" }")]
        }]
    );
    let orders = &config.services[0];
    assert_eq!((&*orders.name, &orders.paths[..]), ("orders", &["services/orders".to_owned()][..]));
    assert_eq!(
        (&orders.hosts[..], &orders.calls[..]),
        (&["orders.shop.svc".to_owned()][..], &["inventory".to_owned()][..])
    );
    assert_eq!(config.services[1].name, "billing");
    assert_eq!(config.versions.0["istio"], Version { major: 1, minor: 23 });
    assert_eq!(config.versions.0["kong"], Version { major: 3, minor: 4 });
}

#[test]
fn an_empty_file_is_the_default() {
    let config = good("# nothing\n");
    assert_eq!((config.max_amplification, config.fail_on), (10, Some(Severity::Error)));
}

#[test]
fn the_table_of_keys_states_the_true_defaults() {
    let text: String = keys::keys_of("")
        .filter(|key| {
            !matches!(
                key.kind,
                keys::Kind::Levels | keys::Kind::Versions | keys::Kind::File | keys::Kind::Files | keys::Kind::Tables
            )
        })
        .map(|key| format!("{} = {}\n", key.name, key.default))
        .collect();
    let (stated, true_ones) = (good(&text), Config::default());
    assert_eq!(format!("{stated:?}"), format!("{true_ones:?}"));
}

#[test]
fn unknown_names_get_a_suggestion_and_their_place() {
    let found = wrong(
        r#"
max_amplification = 20
colour = true
[rules]
missing-jiter = "off"
something-else = "off"
[systems]
isto = "1.23"
nginx-plus = "1.0"
[[service]]
name = "a"
host = ["b"]
[[override]]
paths = ["x"]
rule = { missing-jitter = "off" }
rules = { retry-amplificaton = "off" }
"#,
    );
    let expected = [
        ("max_amplification", "unknown key `max_amplification`", "did you mean `max-amplification`?"),
        (
            "colour",
            "unknown key `colour`",
            "known here: extend, max-amplification, fail-on, notes, strict, include-tests, include-generated, exclude, baseline, rules, override, allow, allow-without-reason, allow-unused, service, helper, system, redelivery, systems",
        ),
        ("missing-jiter", "unknown rule `missing-jiter`", "did you mean `missing-jitter`?"),
        ("something-else", "unknown rule `something-else`", "`retrylint rules` lists all rules"),
        ("isto", "unknown system `isto`", "did you mean `istio`?"),
        ("nginx-plus", "unknown system `nginx-plus`", "`retrylint systems` lists all systems"),
        ("host", "unknown key `host`", "did you mean `hosts`?"),
        ("rule", "unknown key `rule`", "did you mean `rules`?"),
        ("retry-amplificaton", "unknown rule `retry-amplificaton`", "did you mean `retry-amplification`?"),
    ];
    let expected: Vec<_> = expected.map(|(at, what, help)| (at.to_owned(), what.to_owned(), help.to_owned())).into();
    assert_eq!(found, expected);
}

#[test]
fn wrong_types_are_all_told_at_once() {
    let found = wrong(
        r#"
max-amplification = 0
fail-on = "errors"
notes = "yes"
strict = 1
exclude = "legacy"
[rules]
missing-jitter = "warn"
retry-amplification = 3
[systems]
istio = 1.23
kong = "newest"
"#,
    );
    let places: Vec<_> = found.iter().map(|(at, _, _)| at.as_str()).collect();
    let expected = ["0", "\"errors\"", "\"yes\"", "1", "\"legacy\"", "\"warn\"", "3", "1.23", "\"newest\""];
    assert_eq!(places, expected);
    assert_eq!(found[1].2, "did you mean \"error\"?");
    assert_eq!(found[7].2, "write it as a text: `istio = \"1.23\"`");
}

#[test]
fn items_of_lists_are_checked_one_by_one() {
    let found = wrong("exclude = [\"a\", 3, \"b[\", \"\"]\n");
    let places: Vec<_> = found.iter().map(|(at, message, _)| (at.as_str(), message.as_str())).collect();
    let wrong_type = "wrong value for `exclude`";
    assert_eq!(places, [("3", wrong_type), ("\"b[\"", "`b[` is not a glob"), ("\"\"", wrong_type)]);
}

#[test]
fn tables_need_their_keys_and_brackets() {
    let messages = |text| wrong(text).into_iter().map(|(_, message, _)| message).collect::<Vec<_>>();
    assert_eq!(messages("[[service]]\nhosts = [\"a\"]\n"), ["`[[service]]` without `name`"]);
    assert_eq!(messages("[[override]]\n"), ["`[[override]]` without `paths`", "`[[override]]` without `rules`"]);
    assert_eq!(messages("[service]\nname = \"a\"\n"), ["`service` is not a list of tables"]);
    assert_eq!(messages("service = [3]\n"), ["wrong value for `service`"]);
    assert_eq!(messages("rules = [\"off\"]\nsystems = 3\n").len(), 2);
    assert_eq!(messages("[[service]]\nname = \"a\"\n[[service]]\nname = \"a\"\n"), ["two services named `a`"]);
}

#[test]
fn broken_syntax_is_told_with_its_place_and_nothing_else() {
    let found = parse(&source("colour = 1\nnotes = tru\n"), &names()).unwrap_err();
    assert!(found.iter().all(|p| p.label == "not TOML" && p.span.start >= 11), "{found:?}");
}

#[test]
fn helpers_are_read() {
    let config = good(
        r#"
[[helper]]
name = "Client::with_retry"
retries-argument = 2
call-argument = 1
wait-argument = 3
factor = 1.5
cap = "10s"

[[helper]]
name = "retry!"
attempts = 4
wait = "250ms"
jitter = true
"#,
    );
    let [method, r#macro] = config.helpers.as_slice() else { panic!("{:?}", config.helpers) };
    assert_eq!(method.path, ["Client", "with_retry"]);
    assert!(!method.is_macro && method.is_called(&["crate", "Client", "with_retry"]));
    assert!(!method.is_called(&["with_retry"]) && !method.is_called(&["Other", "with_retry"]));
    assert_eq!((method.count, method.call), (own::HelperCount::Retries(1), Some(0)));
    assert_eq!((method.wait, method.factor), (Some(own::HelperWait::Argument(2)), Some(1.5)));
    assert_eq!(method.cap, Some(std::time::Duration::from_secs(10)));
    assert!(r#macro.is_macro && r#macro.name() == "retry" && r#macro.jitter == Some(true));
    assert!(matches!(r#macro.count, own::HelperCount::Fixed(4, _)));
}

#[test]
fn what_is_wrong_with_a_helper_or_a_format_is_named_where_it_stands() {
    for (text, place, message) in [
        ("[[helper]]\nattempts = 3\n", "[[helper]]\nattempts = 3", "`[[helper]]` without `name`"),
        ("[[helper]]\nname = \"a b\"\n", "\"a b\"", "not the name of a function"),
        ("[[helper]]\nname = \"a\"\nattempts = 0\n", "0", "wrong value for `attempts`"),
        ("[[helper]]\nname = \"a\"\nretries-argument = 0\n", "0", "wrong value for `retries-argument`"),
        ("[[helper]]\nname = \"a\"\nwait = 3\n", "3", "wrong value for `wait`"),
        (
            "[[helper]]\nname = \"a\"\nattempts = 3\nretries-argument = 1\n",
            "retries-argument",
            "`attempts` and `retries-argument` both say its count",
        ),
        ("[[helper]]\nname = \"a\"\ncount = 1\n", "count", "unknown key `count`"),
        (
            "[[system]]\nname = \"kong\"\nfiles = [\"a\"]\nlayers = \"a\"\n",
            "\"kong\"",
            "`kong` is a system that retrylint knows",
        ),
        ("[[system]]\nname = \"a\"\nfiles = [\"a\"]\nlayers = \"a..b\"\n", "\"a..b\"", "`a..b` is no chain of keys"),
        (
            "[[system]]\nname = \"a\"\nfiles = [\"a\"]\nlayers = \"a.*\"\nbase = \"b.*\"\n",
            "\"b.*\"",
            "`b.*` leads to several places",
        ),
        (
            "[[system]]\nname = \"a\"\nfiles = [\"a\"]\nlayers = \"a\"\nretries = \"n\"\nattempts = \"m\"\n",
            "attempts",
            "`retries` and `attempts` both say its count",
        ),
        (
            "[[system]]\nname = \"a\"\nfiles = [\"a\"]\nlayers = \"a\"\nunit = \"h\"\n",
            "\"h\"",
            "wrong value for `unit`",
        ),
        (
            "[[system]]\nname = \"a\"\nfiles = [\"a\"]\nlayers = \"a\"\ndefault-statuses = [503, 200]\n",
            "200",
            "wrong value for `default-statuses`",
        ),
    ] {
        let found = wrong(text);
        assert!(found.iter().any(|(at, what, _)| at == place && what == message), "{text}\n{found:?}");
    }
}
