//! `tollgate characters`: imports, exports and lists character cards.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use control::operation::Operation;
use control::reply::{CharacterLine, Reply};

use crate::args;
use crate::failure::Failure;
use crate::operator::{Operator, unexpected};
use crate::output::{Listing, print_json, print_line};

pub(crate) async fn run(
    operator: &mut Operator<'_>,
    command: args::Characters,
) -> Result<(), Failure> {
    match command {
        args::Characters::Import { files, listing } => import(operator, &files, listing.json).await,
        args::Characters::Export { slug } => {
            let reply = operator.perform(Operation::ExportCharacter { slug }).await?;
            let Reply::Card(card) = reply else { return Err(unexpected()) };
            print_line(&card)
        }
        args::Characters::List(listing) => {
            let reply = operator.perform(Operation::ListCharacters).await?;
            let Reply::Characters(characters) = reply else { return Err(unexpected()) };
            if listing.json { print_json(&characters) } else { print(&characters) }
        }
    }
}

async fn import(
    operator: &mut Operator<'_>,
    files: &[std::path::PathBuf],
    is_json: bool,
) -> Result<(), Failure> {
    let mut imported = Vec::new();
    for file in files {
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let bytes = std::fs::read(file).map_err(|error| Failure::Failed(told(&error)))?;
        let operation = Operation::ImportCharacter { file: BASE64_STANDARD.encode(bytes) };
        let reply = operator.perform(operation).await;
        let Reply::Characters(made) = reply.map_err(|failure| match failure {
            Failure::Failed(error) => Failure::Failed(told(&error)),
            other => other,
        })?
        else {
            return Err(unexpected());
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

fn print(characters: &[CharacterLine]) -> Result<(), Failure> {
    let mut table = Listing::new(&["SLUG", "NAME", "TAGS", "IMPORTS", "RATINGS", "CREATED"]);
    for character in characters {
        table.row([
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
