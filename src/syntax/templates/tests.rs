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
