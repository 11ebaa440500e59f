"""Reference data of the labour market: places, titles, skills, companies, occupations."""
