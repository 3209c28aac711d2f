//! `tollgate characters`: imports, exports and lists character cards.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use control::operation::ControlOperation;
use control::reply::{CharacterLine, ControlReply};

use crate::args;
use crate::failure::CommandError;
use crate::operator::{OperationClient, unexpected_reply_error};
use crate::output::{TextTable, print_json, print_line};

pub(crate) async fn run_characters_command(
    operator: &mut OperationClient<'_>,
    command: args::CharactersCommand,
) -> Result<(), CommandError> {
    match command {
        args::CharactersCommand::Import { files, listing } => {
            import_cards(operator, &files, listing.json).await
        }
        args::CharactersCommand::Export { slug } => {
            let reply = operator.perform(ControlOperation::ExportCharacter { slug }).await?;
            let ControlReply::Card(card) = reply else { return Err(unexpected_reply_error()) };
            print_line(&card)
        }
        args::CharactersCommand::List(listing) => {
            let reply = operator.perform(ControlOperation::ListCharacters).await?;
            let ControlReply::Characters(characters) = reply else {
                return Err(unexpected_reply_error());
            };
            if listing.json { print_json(&characters) } else { print_characters(&characters) }
        }
    }
}

async fn import_cards(
    operator: &mut OperationClient<'_>,
    files: &[std::path::PathBuf],
    is_json: bool,
) -> Result<(), CommandError> {
    let mut imported = Vec::new();
    for file in files {
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let bytes = std::fs::read(file).map_err(|error| CommandError::Failed(told(&error)))?;
        let operation = ControlOperation::ImportCharacter { file: BASE64_STANDARD.encode(bytes) };
        let reply = operator.perform(operation).await;
        let ControlReply::Characters(made) = reply.map_err(|failure| match failure {
            CommandError::Failed(error) => CommandError::Failed(told(&error)),
            other => other,
        })?
        else {
            return Err(unexpected_reply_error());
        };
        imported.extend(made);
    }
    if is_json {
        return print_json(&imported);
    }
    for character in &imported {
        print_line(&format!("imported {} as {}", character.name, character.slug))?;
    }
    Ok(())
}

fn print_characters(characters: &[CharacterLine]) -> Result<(), CommandError> {
    let mut table = TextTable::new(&["SLUG", "NAME", "TAGS", "IMPORTS", "RATINGS", "CREATED"]);
    for character in characters {
        table.push_row([
            (&character.slug).into(),
            (&character.name).into(),
            character.tags.join(", ").into(),
            character.imports.to_string().into(),
            character.rating_count.to_string().into(),
            (&character.created_at).into(),
        ]);
    }
    table.print()
}
