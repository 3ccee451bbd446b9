//! Texts to trees. Parsers never fail and never do I/O: they return what they could read and what they could not.

pub mod annotations;
pub mod blocks;
pub mod caddyfile;
mod directive;
pub mod dockerfile;
#[cfg(test)]
mod dump;
pub mod eskip;
pub mod haproxy;
pub mod hcl;
pub mod json;
pub mod literals;
pub mod nginx;
pub mod properties;
pub mod sections;
pub mod tags;
pub mod templates;
pub mod toml;
pub mod tree;
pub mod xml;
pub mod yaml;

pub use tree::{Comment, Entry, Node, Parsed, Scalar, SyntaxError, Value, relaxed};

use crate::source::SourceFile;

/// Reads a settings file. Rust, Go and SQL have no tree here: their readers stand with what they read.
pub fn parse(syntax: Syntax, file: &SourceFile) -> Parsed {
    match syntax {
        Syntax::Yaml => templates::parse(file),
        Syntax::Json => json::parse(file),
        Syntax::Toml => toml::parse(file),
        Syntax::Properties => properties::parse(file),
        Syntax::Nginx => nginx::parse(file),
        Syntax::HaProxy => haproxy::parse(file),
        Syntax::HaProxyLines => haproxy::parse_lines(file),
        Syntax::Caddyfile => caddyfile::parse(file),
        Syntax::Xml => xml::parse(file),
        Syntax::Hcl => hcl::parse(file),
        Syntax::Eskip => eskip::parse(file),
        Syntax::Dockerfile => dockerfile::parse(file),
        Syntax::Annotations => annotations::parse(file),
        Syntax::Blocks => blocks::parse(file),
        Syntax::Tags => tags::parse(file),
        Syntax::Ini => sections::parse(file, sections::Form::Ini),
        Syntax::Sections => sections::parse(file, sections::Form::Words),
        Syntax::Variables => sections::parse(file, sections::Form::Variables),
        Syntax::Rust | Syntax::Sql | Syntax::Template | Syntax::Go => Parsed::default(),
    }
}

/// The syntaxes with a reader here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Syntax {
    /// YAML 1.2 streams (and what the wild calls YAML 1.1).
    Yaml,
    /// JSON, with comments and trailing commas allowed.
    Json,
    /// TOML 1.
    Toml,
    /// Java .properties; dotted keys become nested mappings.
    Properties,
    /// nginx.conf and what it includes; directives with arguments and blocks.
    Nginx,
    /// haproxy.cfg: sections of directives.
    HaProxy,
    /// Lines of one section of HAProxy's, as other files carry them; no file by itself.
    HaProxyLines,
    /// Caddyfiles: sites of directives.
    Caddyfile,
    /// XML that is a policy of a gateway.
    Xml,
    /// HCL, as HashiCorp's programs read it, Terraform among them.
    Hcl,
    /// Skipper's routes.
    Eskip,
    /// Dockerfiles; instructions with words.
    Dockerfile,
    /// Java and Kotlin, of which annotations alone are read.
    Annotations,
    /// Blocks of attributes: Alloy, Logstash.
    Blocks,
    /// Fluentd's sections between tags.
    Tags,
    /// Sections of `key = value`.
    Ini,
    /// Fluent Bit's classic form: sections of keys and words.
    Sections,
    /// Environment variables, one a line.
    Variables,
    /// Rust sources.
    Rust,
    /// SQL scripts.
    Sql,
    /// Go sources, of which texts alone are read.
    Go,
    /// Named templates of a Helm chart.
    Template,
}

impl Syntax {
    /// Whether its readers take bytes that are no UTF-8 for characters of some encoding.
    pub fn is_of_bytes(self) -> bool {
        self == Self::Properties || self.has_directives()
    }

    /// Whether it is made of words and blocks: its tree is one of directives.
    pub fn has_directives(self) -> bool {
        matches!(self, Self::Nginx | Self::HaProxy | Self::HaProxyLines | Self::Caddyfile | Self::Xml)
    }

    /// The syntax of a path, by its name alone.
    pub fn of_path(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if let Some(syntax) = of_program(path, name).or_else(|| of_name(folder, name)) {
            return Some(syntax);
        }
        let ending = name.rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase())?;
        Some(match ending.as_str() {
            "yaml" | "yml" => Self::Yaml,
            "json" | "jsonc" | "json5" => Self::Json,
            "toml" => Self::Toml,
            "properties" => Self::Properties,
            "conf" | "nginx" => Self::Nginx,
            "cfg" => Self::HaProxy,
            "caddyfile" => Self::Caddyfile,
            "xml" => Self::Xml,
            "hcl" | "tf" | "nomad" => Self::Hcl,
            "eskip" => Self::Eskip,
            "rs" => Self::Rust,
            "sql" => Self::Sql,
            "java" | "kt" => Self::Annotations,
            "go" => Self::Go,
            "tpl" => Self::Template,
            _ => return None,
        })
    }
}

/// The files of programs that are known by their whole name.
fn of_program(path: &str, name: &str) -> Option<Syntax> {
    let lower = name.to_ascii_lowercase();
    let is_aws = |path: &str| path == "aws/config" || path.ends_with(".aws/config") || path.ends_with("/aws/config");
    Some(match lower.as_str() {
        ".npmrc" | "npmrc" | "pip.conf" | "pip.ini" | "airflow.cfg" | "kong.conf" | "kong.conf.default" => Syntax::Ini,
        "telegraf.conf" => Syntax::Toml,
        "config" if is_aws(path) => Syntax::Ini,
        "maven.config" => Syntax::Ini,
        ".env" => Syntax::Variables,
        name if name.starts_with(".env.") || name.ends_with(".env") => Syntax::Variables,
        name if name.ends_with(".conf") && (name.contains("fluent-bit") || name.contains("fluentbit")) => {
            Syntax::Sections
        }
        name if name.ends_with(".alloy") || name.ends_with(".river") => Syntax::Blocks,
        name if name.ends_with(".conf") && path.to_ascii_lowercase().contains("logstash") => Syntax::Blocks,
        "fluent.conf" | "fluentd.conf" | "td-agent.conf" => Syntax::Tags,
        name if name.ends_with(".conf") && path.to_ascii_lowercase().contains("fluentd") => Syntax::Tags,
        name if name.ends_with(".conf") && path.contains("telegraf.d/") => Syntax::Toml,
        _ => return None,
    })
}

/// Files that are known by more of their name than its ending, or by their folder.
fn of_name(folder: &str, name: &str) -> Option<Syntax> {
    // A container puts the values in at its start.
    let name = name.strip_suffix(".template").unwrap_or(name);
    let folder = folder.rsplit('/').next().unwrap_or(folder);
    // Neither `Makefile` nor `default.old`.
    let is_bare = !name.contains(|c: char| c == '.' || c.is_ascii_uppercase());
    Some(match folder {
        _ if name == "Cargo.lock" => Syntax::Toml,
        _ if is_dockerfile(name) => Syntax::Dockerfile,
        _ if name == "Caddyfile" || name.starts_with("Caddyfile.") => Syntax::Caddyfile,
        _ if name.ends_with(".conf") => Syntax::Nginx,
        _ if name.ends_with(".cfg") => Syntax::HaProxy,
        "sites-available" | "sites-enabled" | "conf.d" | "nginx" | "snippets" if is_bare => Syntax::Nginx,
        _ => return None,
    })
}

/// `Dockerfile`, `Dockerfile.orders`, `orders.Dockerfile`, and the same of other builders.
fn is_dockerfile(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let plain = matches!(lower.as_str(), "dockerfile" | "containerfile");
    plain || lower.ends_with(".dockerfile") || lower.starts_with("dockerfile.") && !lower.ends_with(".dockerignore")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let all: [(&str, &[&str]); 5] = [
            (
                "Nginx",
                &[
                    "nginx.conf",
                    "a/conf.d/default.conf",
                    "default.conf.template",
                    "etc/sites-enabled/default",
                    "nginx/proxy_params",
                ],
            ),
            ("HaProxy", &["haproxy.cfg", "lb/haproxy.cfg.template"]),
            ("Caddyfile", &["Caddyfile", "a/Caddyfile.dev", "site.caddyfile"]),
            ("Dockerfile", &["Dockerfile", "nginx/Dockerfile", "Dockerfile.orders", "docker/orders.Dockerfile"]),
            ("None", &["Makefile", "a/default", "nginx/default.old", "x.template", "Dockerfile.dockerignore"]),
        ];
        for (expected, paths) in all {
            for path in paths {
                let syntax = Syntax::of_path(path).map_or("None".to_string(), |s| format!("{s:?}"));
                assert_eq!(syntax, expected, "{path}");
            }
        }
    }
}
