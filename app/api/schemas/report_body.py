"""The body of a report, as the OpenAPI document describes it: JSON, a sheet, or a form with a sheet."""

from typing import Any

from app.services.intake.xlsx import XLSX

BINARY = {"schema": {"type": "string", "format": "binary"}}
REPORT_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "One result, many under `observations`, or a sheet (CSV or .xlsx, also as `sheet` in a form).",
        "content": {
            "application/json": {
                "schema": {
                    "anyOf": [{"$ref": "#/components/schemas/ReportIn"}, {"$ref": "#/components/schemas/ReportsIn"}]
                },
                "examples": {
                    "one": {"value": {"suggestion": "B3-S1", "value": 0.83}},
                    "several quantities": {
                        "value": {
                            "suggestion": "B3-S1",
                            "values": {"yield": 83.1, "purity": {"value": 97.2, "std": 0.3}},
                        }
                    },
                    "many": {"value": {"observations": [{"key": "A7-42", "value": 0.83}]}},
                    "failed": {"value": {"suggestion": "B3-S2", "failed": {"reason": "vial broke", "retry": True}}},
                },
            },
            XLSX: BINARY,
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["sheet"],
                    "properties": {"sheet": {"type": "string", "format": "binary"}},
                }
            },
            "text/csv": {"schema": {"type": "string"}, "example": "suggestion,value\nB3-S1,0.83\n"},
        },
    }
}
