//! `retrylint inventory`: what it takes.

use clap::{Args, ValueEnum};

use super::InputArgs;
use crate::report::inventory::InventoryForm;

pub(super) const EXAMPLES: &str = "\
Examples:
  retrylint inventory                              every place that retries, with its settings
  retrylint inventory --format csv > retries.csv   for a spreadsheet
  retrylint inventory --format json deploy         for other programs

Exit status:
  0  written, whatever is in it
  2  wrong usage or configuration
  3  nothing to lint: no file found";

/// What `inventory` takes.
#[derive(Debug, Clone, Default, Args)]
pub struct InventoryArgs {
    /// The form of the list
    #[arg(long, value_enum, default_value_t = InventoryFormat::Table)]
    pub format: InventoryFormat,
    /// What is read.
    #[command(flatten)]
    pub input: InputArgs,
}

/// Forms of the inventory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum InventoryFormat {
    /// For people
    #[default]
    Table,
    /// For spreadsheets
    Csv,
    /// For programs; the form is stable
    Json,
}

impl InventoryFormat {
    /// The form that is asked for.
    pub fn form(self) -> InventoryForm {
        match self {
            Self::Table => InventoryForm::Table,
            Self::Csv => InventoryForm::Csv,
            Self::Json => InventoryForm::Json,
        }
    }
}
