//! Tables as engines fill them and Python wraps them.

use crate::column::{Column, AXIS};
use crate::filled::{ColumnSource, FilledColumn};
use crate::values::Values;

/// Values of a table: columns by name, in order. Only declarations create columns.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Frame(Vec<(String, Values)>);

impl Frame {
    /// Creates the columns that a context fills.
    ///
    /// # Panics
    /// If a name occurs twice, values have another type than declared, or columns differ in length.
    pub fn of<C: ?Sized>(columns: &[FilledColumn<C>], context: &C) -> Self {
        Self::with_axes(columns, context, &[])
    }

    /// Like [`Frame::of`], for columns that exist once per axis of the machine. An axis is skipped if another column
    /// has its name.
    ///
    /// # Panics
    /// As [`Frame::of`].
    pub fn with_axes<C: ?Sized>(columns: &[FilledColumn<C>], context: &C, axes: &[String]) -> Self {
        let mut frame = Self::default();
        for FilledColumn { column, fill } in columns {
            match fill {
                ColumnSource::Always(fill) => frame.push(column, column.name.to_owned(), fill(context)),
                ColumnSource::Optional(fill) => {
                    if let Some(values) = fill(context) {
                        frame.push(column, column.name.to_owned(), values);
                    }
                }
                ColumnSource::PerAxis(fill) => {
                    for (number, axis) in axes.iter().enumerate() {
                        let name = column.name.replace(AXIS, axis);
                        if columns.iter().all(|other| other.column.name != name) {
                            frame.push(column, name, fill(context, number));
                        }
                    }
                }
            }
        }
        frame
    }

    fn push(&mut self, column: &Column, name: String, values: Values) {
        assert!(values.fits(column.kind), "{name} is declared as {}, not as {values:?}", column.kind.word());
        self.add(name, values);
    }

    fn add(&mut self, name: String, values: Values) {
        assert!(self.get(&name).is_none(), "two columns are called {name}");
        if let Some((first, rows)) = self.0.first().map(|(first, values)| (first, values.len())) {
            assert_eq!(values.len(), rows, "columns {first} and {name} have the same length");
        }
        self.0.push((name, values));
    }

    /// Adds the columns of another frame with the same number of rows.
    ///
    /// # Panics
    /// If a name occurs twice, or columns differ in length.
    #[must_use]
    pub fn with_columns_of(mut self, more: Self) -> Self {
        more.0.into_iter().for_each(|(name, values)| self.add(name, values));
        self
    }

    /// The values of the column called `name`.
    pub fn get(&self, name: &str) -> Option<&Values> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, values)| values)
    }

    /// Appends the rows of a frame with the same columns.
    ///
    /// # Panics
    /// If the columns differ in name, order or type.
    pub fn append(&mut self, rows: Self) {
        assert_eq!(self.0.len(), rows.0.len(), "both frames have the same columns");
        for ((name, mine), (other, more)) in self.0.iter_mut().zip(rows.0) {
            assert_eq!(*name, other, "both frames have the same columns");
            mine.append(more);
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.0.first().map_or(0, |(_, values)| values.len())
    }

    /// Names and values in order.
    pub fn columns(&self) -> &[(String, Values)] {
        &self.0
    }

    /// Moves the values out, in order.
    pub fn into_columns(self) -> Vec<(String, Values)> {
        self.0
    }
}

/// Frames by the names of their tables, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Frames(Vec<(&'static str, Frame)>);

impl Extend<(&'static str, Frame)> for Frames {
    /// Adds the frames of tables.
    ///
    /// # Panics
    /// If a name exists already.
    fn extend<I: IntoIterator<Item = (&'static str, Frame)>>(&mut self, tables: I) {
        for (table, frame) in tables {
            assert!(self.get(table).is_none(), "two tables are called {table}");
            self.0.push((table, frame));
        }
    }
}

impl Frames {
    /// The frame of the table called `name`.
    pub fn get(&self, name: &str) -> Option<&Frame> {
        self.0.iter().find(|(other, _)| *other == name).map(|(_, frame)| frame)
    }

    /// Names and frames in order.
    pub fn tables(&self) -> &[(&'static str, Frame)] {
        &self.0
    }

    /// Moves the frames out, in order.
    pub fn into_tables(self) -> Vec<(&'static str, Frame)> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Type;
    use crate::column::Unit::{Bytes, Count, Plain};
    use crate::table::FilledTable;

    /// Packets of two routers, as an engine counts them.
    struct PacketCounts {
        packets: Vec<u64>,
        peaks: Option<Vec<u64>>,
    }

    const COUNTED: FilledTable<'_, PacketCounts> = FilledTable {
        name: "counted",
        row: "router",
        sorted_by: &["router"],
        under: None,
        doc: "",
        columns: &[
            Column::key("router", Type::U32, Plain, "Router", "Router number.")
                .by(|c: &PacketCounts| (0..c.packets.len() as u32).collect()),
            Column::key("<axis>", Type::U32, Plain, "<axis>", "Router coordinate.")
                .by_axis(|c, axis| vec![axis as u32; c.packets.len()].into()),
            Column::sum("packets", Type::U64, Count, "Packets", "Number of packets.").by(|c| c.packets.clone().into()),
            Column::max("peak_bytes", Type::U64, Bytes, "Peak", "Most at a time.")
                .under("record = true")
                .by_if(|c| c.peaks.clone().map(Values::U64)),
        ],
    };

    fn names(frame: &Frame) -> Vec<&str> {
        frame.columns().iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn a_frame_has_the_declared_columns_with_values() {
        let mut counted = PacketCounts { packets: vec![3, 4], peaks: None };
        let (name, frame) = COUNTED.of(&counted);
        assert_eq!((name, names(&frame)), ("counted", vec!["router", "packets"]));
        assert_eq!(frame.get("packets"), Some(&Values::U64(vec![3, 4])));
        counted.peaks = Some(vec![5, 6]);
        let axes = ["row".to_owned(), "router".to_owned()];
        let frame = Frame::with_axes(COUNTED.columns, &counted, &axes);
        assert_eq!(names(&frame), ["router", "row", "packets", "peak_bytes"], "a column wins over an axis of its name");
    }

    #[test]
    fn frames_grow_by_rows_and_by_columns() {
        let counted = |packets: &[u64]| COUNTED.of(&PacketCounts { packets: packets.to_vec(), peaks: None }).1;
        let mut frame = counted(&[1]);
        frame.append(counted(&[2, 3]));
        assert_eq!((frame.rows(), frame.get("packets")), (3, Some(&Values::U64(vec![1, 2, 3]))));
        let peaks: &[FilledColumn<[u64]>] = &[Column::max("peak_bytes", Type::U64, Bytes, "Peak", "Most at a time.")
            .by(|peaks: &[u64]| peaks.to_vec().into())];
        assert_eq!(names(&frame.with_columns_of(Frame::of(peaks, &[7, 8, 9]))), ["router", "packets", "peak_bytes"]);
    }

    #[test]
    #[should_panic(expected = "packets is declared as u32, not as U64")]
    fn values_of_another_type_are_refused() {
        let wrong: &[FilledColumn<()>] =
            &[Column::sum("packets", Type::U32, Count, "Packets", "Number of packets.").by(|()| Values::U64(vec![1]))];
        let _ = Frame::of(wrong, &());
    }

    #[test]
    #[should_panic(expected = "columns router and peak_bytes have the same length")]
    fn columns_of_another_length_are_refused() {
        let _ = COUNTED.of(&PacketCounts { packets: vec![1, 2], peaks: Some(vec![3]) });
    }

    #[test]
    fn json_declarations_omit_defaults() {
        let json = COUNTED.declaration().to_json();
        assert_eq!(json["columns"][3]["under"], "record = true");
        assert!(json["columns"][2].get("under").is_none() && json.get("meaning").is_none());
        assert_eq!(json["columns"][0]["merge"], "key");
    }
}
