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
        .map(|p| (text.get(p.range).unwrap().to_owned(), p.message, p.help.unwrap_or_default()))
        .collect()
}

#[test]
fn every_key_is_read() {
    let config = good(
        r#"
max-amplification = 20
fail-on = "never"
notes = true
strict = true
include-tests = true
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
"#,
    );
    let level = |rule: &str, level| RuleLevel { rule: rule.to_owned(), level };
    assert_eq!((config.max_amplification, config.fail_on), (20, None));
    assert!(config.notes && config.strict && config.include_tests);
    assert_eq!(config.exclude, ["legacy", "*.gen.yaml"]);
    assert_eq!(config.levels, [level("missing-jitter", Some(Severity::Warning)), level("retry-amplification", None)]);
    assert_eq!(
        config.overrides,
        [PathLevels { paths: vec!["tools/**".into()], levels: vec![level("missing-jitter", None)] }]
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
        .filter(|key| !matches!(key.kind, keys::Kind::Levels | keys::Kind::Versions | keys::Kind::Tables))
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
            "known here: max-amplification, fail-on, notes, strict, include-tests, exclude, rules, override, service, redelivery, systems",
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
    assert!(found.iter().all(|p| p.label == "not TOML" && p.range.start >= 11), "{found:?}");
}
