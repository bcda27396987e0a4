use crate::rows::{flat, row};
use atlas_formats::{Dataset, Schema, SchemaError};

#[test]
fn every_schema_is_told_by_its_columns_and_by_its_name() {
    for (schema, value) in flat() {
        assert_eq!(Schema::detect(&row(&value)), Some(schema));
    }
    for schema in Schema::ALL {
        assert_eq!(schema.to_string().parse(), Ok(schema));
    }
    let why = "swebench6".parse::<Schema>().unwrap_err().to_string();
    for schema in Schema::ALL {
        assert!(why.contains(schema.as_str()), "{why}");
    }
}

#[test]
fn rows_of_several_schemas_or_of_none_are_said() {
    let rows: Vec<_> = flat().iter().map(|(_, value)| row(value)).collect();
    assert!(matches!(Schema::of(&[]), Err(SchemaError::Empty)));
    assert!(matches!(
        Schema::of(&rows[..2]),
        Err(SchemaError::Mixed { .. })
    ));
    assert_eq!(Schema::of(&rows[..1]), Ok(Schema::SwebenchV4));
    let bare = Dataset::from_bytes(br#"{"instance_id": "a__b-1"}"#, "x.jsonl".as_ref());
    assert!(matches!(bare.schema(), Err(SchemaError::Unknown(id)) if id == "a__b-1"));
}
