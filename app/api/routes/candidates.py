"""/v1/studies/{study}/candidates"""
from fastapi import APIRouter
router = APIRouter()
