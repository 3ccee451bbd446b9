//! Settings of applications, and where they come from: files, config maps, environments.
use super::EnvFact;
use crate::model::HostRef;
use crate::source::Span;
use crate::syntax::Entry;

/// A ConfigMap, or a Secret whose contents are written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigMapFact {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Its entries that hold one line: values for environment variables.
    pub values: Vec<EnvFact>,
    /// The files of the repository that hold its contents, as shown: the files it is generated from, or the manifest itself.
    pub files: Vec<String>,
    /// The whole of it, where a manifest writes it out.
    pub place: Option<Span>,
    /// Whether it is a Secret.
    pub is_secret: bool,
}

/// A ConfigMap or a Secret whose entries a component mounts as files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountedMapFact {
    /// It, as a whole.
    pub map: Span,
    /// The component.
    pub component: String,
}

/// What a component takes from a ConfigMap. [`crate::systems::join`] turns it into mounts and environment values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigUseFact {
    /// The place of the component's name, as in [`super::ComponentFact::span`].
    pub component: Span,
    /// The ConfigMap, or the Secret.
    pub config_map: String,
    /// Whether it is a Secret.
    pub is_secret: bool,
    /// What of it.
    pub what: ConfigUse,
}

/// A part of a ConfigMap that a component takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigUse {
    /// Its entries as files.
    Mount,
    /// Every entry as an environment variable.
    AllValues {
        /// What their names begin with.
        prefix: String,
    },
    /// One entry as an environment variable.
    OneValue {
        /// The variable.
        name: String,
        /// The entry.
        key: String,
    },
}

/// A settings file, flattened.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsFact {
    /// The path as shown.
    pub path: String,
    /// Key chain (`upstream.tax.max_retries`), text of the scalar, its place.
    pub values: Vec<(String, String, Span)>,
}

/// The settings of an application in files that Spring Boot, Micronaut or Quarkus read together.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationFact {
    /// The path of its main file, as shown.
    pub path: String,
    /// Its name, where the settings tell it.
    pub name: Option<String>,
    /// What it runs on.
    pub platform: Platform,
    /// The documents, later ones over earlier ones.
    pub documents: Vec<ApplicationDocument>,
    /// The first document.
    pub span: Span,
}

/// What an application runs on: it decides how files, profiles and the environment come together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Java: Spring Boot, Micronaut, Quarkus.
    Jvm,
    /// .NET, whose profiles are called environments.
    DotNet,
}

/// What an application calls itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationNameFact {
    /// The path of the file that says so, as shown.
    pub path: String,
    /// The name.
    pub name: String,
    /// Whether the file is that of a configuration server, which gives it to the application of that name.
    pub served: bool,
    /// The settings.
    pub span: Span,
}

/// An address that an application's settings or code hold: it may call whoever is behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressFact {
    /// Whose settings.
    pub of: AddressOf,
    /// What says so: "`spring.rabbitmq.host` is `rabbitmq`".
    pub says: String,
    /// Whom it names.
    pub to: HostRef,
}

/// Whose an address is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressOf {
    /// The application that the file belongs to.
    File,
    /// This application.
    Component(String),
    /// Every application that has a file of its own in this folder.
    Folder(String),
}

/// One document of an application's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationDocument {
    /// The profile under which it counts, or an expression over several (`prod & !cloud`); `None` = always.
    pub profile: Option<String>,
    /// Its settings, in the order of the file.
    pub settings: Vec<ApplicationSetting>,
}

/// One setting of an application.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationSetting {
    /// The parts of its key, each with its place.
    pub path: Vec<(String, Span)>,
    /// The end of the key, with the value.
    pub entry: Entry,
}

/// A file of environment variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvFileFact {
    /// The path as shown.
    pub path: String,
    /// The variables.
    pub values: Vec<EnvFact>,
}

/// What a component takes from a file of environment variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvFileUseFact {
    /// The place of the component's name, as in [`super::ComponentFact::span`].
    pub component: Span,
    /// The file, as shown.
    pub path: String,
    /// One variable whose value names others, as it is written; `None`: the whole file.
    pub value: Option<EnvFact>,
}
