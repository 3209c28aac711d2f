//! A character in the response's form.

use http_frame::app::AppState;
use http_frame::base_paths::BASE_PATH;
use store::character::ListedCharacter;
use wire::characters::{Character, CharacterStats};

pub(super) fn to_wire_character(app: &AppState, line: ListedCharacter) -> Character {
    let public_url = app.settings.public_url.as_str();
    let average_rating = compute_average_rating(&line);
    let ListedCharacter { character, imports, rating_count, rating_sum, own_rating } = line;
    Character {
        adult: character.adult,
        author: character.author,
        created_at: character.created.to_string(),
        description: character.description,
        featured: character.featured,
        id: character.id.to_string(),
        name: character.name,
        share_url: format!("{public_url}/c/{}", character.slug),
        photo_url: format!("{public_url}{BASE_PATH}/characters/{}/photo", character.slug),
        slug: character.slug,
        stats: CharacterStats {
            average_rating,
            imports,
            rating_count,
            rating_sum: to_float(rating_sum),
            user_rating: own_rating.map_or(0.0, f64::from),
        },
        tags: character.tags,
        updated_at: character.updated.to_string(),
        web_enabled: character.web_enabled,
        model_id: character.model.unwrap_or_default(),
    }
}

pub(super) fn compute_average_rating(line: &ListedCharacter) -> f64 {
    if line.rating_count == 0 {
        0.0
    } else {
        to_float(line.rating_sum) / to_float(line.rating_count)
    }
}

/// A count as a float, at most `u32::MAX`.
fn to_float(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}
