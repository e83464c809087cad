"""What `import podium` offers to programs and notebooks, loaded when it is used."""
