use super::*;
use crate::syntax::dump::{dump, file};

#[test]
fn actions_become_blanks_and_words_and_come_back_as_texts() {
    let text = "{{- if .Values.on }}\nkind: A\nname: {{ include \"x\" . }}-a\nn: {{ .Values.n | default 3 }}\n{{ .Values.key }}: \"{{ .Values.q }}\"\n{{- end }}\nlist:\n  {{- range .Values.l }}\n  - {{ . }}\n  {{- end }}\nflow: {a: ${X}, b: [${Y:-2}]}\nblock: |\n  {{ .Values.text }} z\nafter: 1 # {{ comment }}\n";
    insta::assert_snapshot!(dump(parse, text));
}

#[test]
fn branches_are_alternatives() {
    let text =
        "a: 1\n{{- if .Values.x }}\nn: 2\n{{- else if .Values.y }}\nn: 3\n{{- else }}\nn: 4\n{{- end }}\n---\nb: 1\n";
    let parsed = parse(&file(text));
    assert_eq!(parsed.errors, []);
    let numbers: Vec<_> = parsed.documents.iter().map(|d| d.get("n").and_then(Node::as_int)).collect();
    assert_eq!(numbers, [Some(2), None, Some(4)]);
}

#[test]
fn what_is_plain_yaml_stays_as_it_was() {
    for text in ["a: \"{{ $labels.x }}\"\n", "a: |\n  {{ range }}\n  b\n", "a: ${{ matrix.x }}\n", "# {{ x }}\na: 1\n"]
    {
        let plain = yaml::parse(&file(text));
        assert_eq!(parse(&file(text)).documents, plain.documents, "{text}");
    }
}

#[test]
fn a_template_that_is_no_yaml_is_told() {
    let parsed = parse(&file("a: [1\n{{ if }}\nb: }\n"));
    assert!(parsed.errors[0].message.contains("template"), "{:?}", parsed.errors);
    for text in ["{{", "a: {{ \"", "{{/* x", "${", "{{ else }}{{ end }}{{ end }}\n", "é: {{ é }}\n"] {
        let _ = parse(&file(text));
    }
}

#[test]
fn what_puts_nothing_there_leaves_the_rest_of_its_line_where_it_is() {
    let text = concat!(
        "a:\n  {{ if .x }}b: \"{{ . }}\"{{ end }}\n  c:\n  {{ if .y }}- p{{ end }}\n  d:\n{{- if .z }} |\n    text\n",
        "{{- else }} ''\n{{- end }}\ne: [1]{{/* TODO */}}\n{{ $v := ne .q \"f\" }}{{ if $v }}f: 2{{ end }}\n",
        "{{- if .w }} # why\ng: 3 # x\n{{- end }}\nh: {{ if .a }} \"1\" {{ else }} {{ .b | quote }} {{ end }}\n",
    );
    let parsed = parse(&file(text));
    assert_eq!(parsed.errors, []);
    let first = &parsed.documents[0];
    assert_eq!(first.at(&["a", "b"]).and_then(Node::as_str), Some("{{ . }}"));
    assert_eq!(first.at(&["a", "c"]).unwrap().items().len(), 1);
    assert_eq!(first.at(&["a", "d"]).and_then(Node::as_str).map(str::trim), Some("text"));
    assert_eq!(parsed.documents[1].at(&["a", "d"]).and_then(Node::as_str), Some(""));
    assert_eq!(parsed.documents[1].get("h").and_then(Node::as_str), Some("{{ .b | quote }}"));
    for (key, value) in [("f", 2), ("g", 3), ("h", 1)] {
        assert_eq!(first.get(key).and_then(Node::as_int), Some(value), "{key}");
    }
}

#[test]
fn templates_for_elsewhere_are_no_part_of_the_text_around_them() {
    let parsed =
        parse(&file("{{- define \"core\" }}\n- a: {{ . }}\n{{- end }}\n\nkind: A\nlist:\n{{ template \"core\" . }}\n"));
    assert_eq!(parsed.errors, []);
    assert_eq!(parsed.documents[0].get("kind").and_then(Node::as_str), Some("A"));
    let alone = parse(&file("{{- define \"core\" }}\na: 1\n{{- end }}\n"));
    assert_eq!(alone.documents[0].get("a").and_then(Node::as_int), Some(1));
}

#[test]
fn values_of_the_chart() {
    let values = yaml::parse(&file("n: 4\nhost: a\ndeep: {x: 5}\n"));
    let outer = yaml::parse(&file("sub: {deep: {x: 6}}\nglobal: {g: 7}\n"));
    let chart = Chart {
        own: values.documents.first().map(|d| &**d),
        outer: outer.documents.first().map(|d| (&**d, "sub")),
        name: None,
        release: None,
    };
    let get = |action: &str| {
        let parsed = parse(&file(&format!("v: {action}\n")));
        resolve(&parsed.documents[0], chart, &Helpers::default())
            .get("v")
            .and_then(Node::as_str)
            .unwrap_or_default()
            .to_string()
    };
    assert_eq!(get("{{ .Values.n }}"), "4");
    assert_eq!(get("{{- $.Values.n | quote -}}"), "4");
    assert_eq!(get("{{ int .Values.deep.x }}"), "6");
    assert_eq!(get("{{ .Values.global.g }}"), "7");
    assert_eq!(get("{{ .Values.none | default 9 }}"), "9");
    assert_eq!(get("{{ default 9 .Values.n }}"), "4");
    assert_eq!(get("http://{{ .Values.host }}:80"), "http://a:80");
    for unknown in ["{{ .Values.none }}", "{{ .Release.Name }}", "{{ add .Values.n 1 }}", "{{ .Values.deep }}"] {
        assert_eq!(get(unknown), unknown);
    }
}

#[test]
fn whatever_is_repeated_is_read_once() {
    let start = std::time::Instant::now();
    let many = [
        "{{".repeat(200_000),
        "${".repeat(200_000),
        "{{ if }}\n".repeat(50_000) + &"{{ else }}\n{{ end }}\n".repeat(50_000),
        format!("a: {}\n", "{{ x }}".repeat(50_000)),
        "{{/*".repeat(100_000),
    ];
    for text in many {
        let actions = Actions::find(&text);
        assert_eq!(actions.mask(&text, Branch::Last, true).len(), text.len());
        assert_eq!(actions.mask(&text, Branch::First, false).len(), text.len());
    }
    assert!(start.elapsed().as_secs() < 60);
}

#[test]
fn an_action_right_behind_a_key_begins_a_line_of_its_own() {
    let text = "hosts:{{ .Values.hosts | toYaml | nindent 4 }}\nurl: http://a:{{ .Values.port }}\npem: |-{{ .Values.pem | nindent 4 }}\nlist:\n- |{{ .Values.x | nindent 4 }}\nlast: 1\n";
    let parsed = parse(&file(text));
    assert_eq!(parsed.errors, []);
    let root = &parsed.documents[0];
    let hosts = root.get("hosts").unwrap();
    assert_eq!(hosts.as_str(), Some("{{ .Values.hosts | toYaml | nindent 4 }}"));
    assert_eq!(text.get(hosts.span.range()), Some("{{ .Values.hosts | toYaml | nindent 4 }}"));
    assert_eq!(root.get("url").and_then(Node::as_str), Some("http://a:{{ .Values.port }}"));
    assert_eq!(root.get("pem").and_then(Node::as_str), Some(""));
    assert_eq!(root.get("last").and_then(Node::as_int), Some(1));
}

#[test]
fn a_port_behind_a_host_is_no_value_of_a_key() {
    for text in ["- 8080:{{ .Values.port }}\n", "a:{{ .Values.x }}\n"] {
        let parsed = parse(&file(text));
        assert!(parsed.documents.iter().all(|d| d.get("a").is_none()), "{text}");
    }
}
