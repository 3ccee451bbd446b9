//! Addresses on the command lines of containers.

use crate::facts::EnvFact;
use crate::source::Span;
use crate::syntax::Node;

/// So much of a command line is looked at.
const MAX_WORDS: usize = 1_000;

/// The addresses on a command line, as if the environment held them under the name of their flag: `--sink=http://db:8086`,
/// `--db db:5432`, or a URL in what a shell is told to run.
pub(super) fn addresses(key: &str, line: Option<&Node>) -> Vec<EnvFact> {
    let Some(line) = line else { return Vec::new() };
    let single = line.as_str().map(|text| (text, line.span, false));
    // An item with spaces is a script that a shell is told to run.
    let is_script = |text: &str| text.split_whitespace().nth(1).is_some();
    let list = line.items().iter().filter_map(|n| n.as_str().map(|text| (text, n.span, is_script(text))));
    let mut flag: Option<&str> = None;
    let mut out = Vec::new();
    for (text, span, scripted) in single.into_iter().chain(list) {
        for word in text.split_whitespace().take(MAX_WORDS) {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) if name.starts_with('-') => (Some(name), value),
                _ if word.starts_with('-') => {
                    flag = Some(word);
                    continue;
                }
                // In a script a flag belongs to whatever program stands before it.
                _ => (flag.take().filter(|_| !scripted), word),
            };
            flag = None;
            let of_host = name.is_some_and(is_of_host);
            out.extend(in_word(value, of_host).map(|value| fact(name.unwrap_or(key), value, span)));
        }
    }
    out
}

fn fact(name: &str, value: &str, span: Span) -> EnvFact {
    EnvFact { name: name.to_owned(), value: value.to_owned(), span }
}

/// Whether a flag says that its value is a host: `--mongo-host`, and `-h` before a value.
fn is_of_host(flag: &str) -> bool {
    let last = flag.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    flag == "-h" || OF_HOSTS.iter().any(|word| last.eq_ignore_ascii_case(word))
}

const OF_HOSTS: [&str; 9] = ["host", "hosts", "addr", "address", "url", "uri", "server", "servers", "endpoint"];

/// The URLs and hosts with ports in a word; the value of a flag that is for hosts as it is.
fn in_word(word: &str, of_host: bool) -> impl Iterator<Item = &str> {
    let is_of_hosts = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '/' | ',');
    let whole = of_host && word.chars().all(is_of_hosts) && !word.contains(":http");
    let parts = word.split(['"', '\'', '(', ')', ';', '|', '<', '>', '`']).filter(move |_| !whole);
    parts.filter_map(address).chain(Some(word).filter(move |_| whole))
}

fn address(part: &str) -> Option<&str> {
    if let Some((before, _)) = part.split_once("://") {
        let scheme = before.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        return part.get(scheme..).filter(|url| !url.starts_with("://"));
    }
    let host = part.rsplit_once('@').map_or(part, |(_, host)| host);
    let (name, port) = host.split('/').next()?.rsplit_once(':')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    let is_name = is_name && name.chars().any(|c| c.is_ascii_alphabetic());
    let is_port = (2..=5).contains(&port.len()) && port.chars().all(|c| c.is_ascii_digit());
    (is_name && is_port).then_some(host)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::source::FileId;
    use crate::syntax::{Scalar, Value};

    fn node(value: Value) -> Arc<Node> {
        Arc::new(Node::new(Span::start_of(FileId(0)), value))
    }

    fn word(text: &str) -> Arc<Node> {
        node(Value::Scalar(Scalar { text: text.into(), plain: true, verbatim: None }))
    }

    fn found(words: &[&str]) -> Vec<String> {
        let line = match words {
            [single] => word(single),
            _ => node(Value::List(words.iter().map(|w| word(w)).collect())),
        };
        addresses("args", Some(&line)).into_iter().map(|e| format!("{} {}", e.name, e.value)).collect()
    }

    #[test]
    fn addresses_of_flags_and_in_scripts() {
        assert_eq!(found(&["/app", "-mongo-host=user-db:27017"]), ["-mongo-host user-db:27017"]);
        assert_eq!(found(&["/app", "--orders", "orders:8080", "-v"]), ["--orders orders:8080"]);
        assert_eq!(found(&["/app", "--orders-host", "orders", "--rate=5"]), ["--orders-host orders"]);
        assert_eq!(found(&["app", "-DSN=me:pw@tcp(db.shop:3306)/stock"]), ["-DSN db.shop:3306"]);
        assert_eq!(found(&["app", "--sink=influxdb:http://influx:8086"]), ["--sink http://influx:8086"]);
        assert_eq!(
            found(&["-c", "while true; do curl -s 'http://web.shop/health'; done"]),
            ["args http://web.shop/health"]
        );
        assert_eq!(found(&["-d 60 -r 200 -h edge-router"]), ["-h edge-router"]);
        assert_eq!(found(&["sh -c 'wait-for db:5432 && serve'"]), ["args db:5432"]);
    }

    #[test]
    fn other_words_are_no_addresses() {
        for words in [&["serve", "now"][..], &["12:30", "a:b"], &["sh", "-c", "echo a:b ://x"], &["time 7:5"]] {
            assert_eq!(found(words), Vec::<String>::new(), "{words:?}");
        }
    }
}
