"""English: the words and phrases that readers look for."""

from models.reading.languages.language import (
    Cue,
    ExclusionWords,
    HeadingWords,
    Language,
    LeadIn,
    PlaceWords,
    ShortWords,
    SkillWords,
    SpokenWords,
    TitleWords,
    YearsWords,
    any_phrase,
)

# ruff: noqa: E501 - phrases that are read as one list


_ARTICLE = r"(?:an?(?![a-z])|(?:our(?:\s+(?:next|first|new))?|the|another|several|multiple|\d{1,2}|one|two|three)\b)?"
_CAPITALISED = r"(?:[A-Z][\w&/+-]*\s+){1,5}"
_ASKING = any_phrase(
    r"""looking for|looking out for|looking to (?:hire|recruit|appoint|add|employ|find|bring on)|searching for
    |in search of|seek(?:ing|s)? (?:to (?:hire|recruit|appoint|employ)|applicants for|applications for|applications from)
    |seek(?:ing|s)?|to (?:hire|recruit|appoint)|hiring(?:\sfor)?|appointing|in need of|we need|we require
    |invites applications for|recruiting(?:\sfor|\sto)?"""
)
_JOB = any_phrase("role|position|post|vacancy|vacancies|opening|openings|opportunity|opportunities|job")
_JOB_LINK = any_phrase("of|for|as|is for|has arisen for|exists for|available for|exists as|working as|to work as")
_DOING = any_phrase(
    """will|is|works?|reports?|leads?|manages?|provides?|supports?|performs?|develops?|serves?|has|oversees|coordinates
    |role|position|plays|must|assists|delivers|designs|acts"""
)

LANGUAGE = Language(
    code="en",
    small_words="the and of to in a for with you are our will we is as or on your be have that this looking from not near",
    and_="and",
    or_="and/or|or|nor",
    headings=HeadingWords(
        required=r"""(?:(?:minimum|basic|job|key)\s)?requirements?|(?:(?:minimum|basic)\s)?qualifications?
        |(?:your\s)?profile?|must[\s-]haves?|what you(?:['’]ll)? (?:bring|need|have)
        |what we(?:['’]re|\sare) looking for|who you are|about you|the person|your (?:skills|experience|expertise)
        |skills|essential|minimum|minimum requirements for the role""",
        nice=r"""nice[\s-]to[\s-]haves?|bonus(?:\spoints)?|preferred(?:\s(?:qualifications|skills|requirements))?
        |desirable|pluses|(?:it'?s\s)?a plus|advantageous|optional|good to have|an ideal candidate also has|extra points""",
        tasks=r"""(?:(?:your|main|key|the)\s)?(?:tasks?|responsibilities|duties|missions?)
        |(?:(?:the|your|about the)\s)?role|what you(?:['’]ll|\swill) do|job\s?description
        |about the (?:job|position|role)|(?:(?:job|role|position)\s)?(?:summary|overview|purpose)|job advert(?:\stext)?
        |introduction""",
        company="about us|who we are|about the company|about .{2,40}|our (?:company|story|values|agency)",
        offer="benefits|perks|what we offer|we offer|compensation|salary|contact|how to apply",
    ),
    titles=TitleWords(
        work="""
        accountant actuary adjuster administrator adviser advisor agent agronomist aide ambassador analyst anaesthetist
        apprentice archaeologist architect archivist artist assembler assessor assistant associate astronomer
        attendant attorney auditor author baker banker barber barista bartender biochemist biologist biostatistician
        bookkeeper bricklayer broker builder butcher buyer captain caregiver caretaker carer carpenter cashier caterer
        chaplain chauffeur chef chemist cleaner clerk clinician coach coder companion composer concierge conductor
        conservator consultant controller cook coordinator co-ordinator copywriter counsel counsellor counselor
        courier creator curator dealer dean deputy designer detective developer dietician dietitian director
        dispatcher diver doctor draughtsman drafter driver economist editor educator electrician engineer engraver
        epidemiologist estimator examiner executive expert fabricator facilitator farmer fellow fighter fisherman
        fitter foreman forester founder fundraiser gardener generalist geographer geologist geophysicist geriatrician
        grader groomer guard guide hairdresser handler handyman head headhunter host hostess housekeeper hydrologist
        hygienist illustrator inspector installer instructor intern interpreter interviewer investigator janitor
        jeweller joiner journalist judge keeper labourer laborer lawyer lead leader lecturer librarian lifeguard
        linguist machinist maid manager marketer marketeer mason massage masseur mathematician mechanic mediator
        merchandiser meteorologist microbiologist midwife miner modeller moderator nanny negotiator neurologist nurse
        nutritionist officer operative operator optician optometrist orderly organiser organizer owner packer painter
        paralegal paramedic partner pathologist pastor pediatrician paediatrician pharmacist phd philosopher
        phlebotomist photographer physician physicist physiologist physiotherapist picker pilot pipefitter planner
        plasterer plumber podiatrist policeman politician porter postdoc practitioner president principal producer
        professor programmer promoter prosthetist provider psychiatrist psychologist psychotherapist publisher
        radiographer radiologist ranger realtor receptionist recruiter registrar reporter representative researcher
        retailer reviewer rigger roofer sailor salesman salesperson scientist scrum secretary seller sergeant server
        shopper sociologist solicitor sourcer specialist statistician steward stewardess stocker strategist student
        superintendent supervisor supporter surgeon surveyor sre sdr bdr tailor teacher technician technologist teller
        tester therapist tiler toolmaker trader trainee trainer transcriptionist translator treasurer trucker tutor
        underwriter upholsterer veterinarian videographer volunteer waiter waitress warden watchmaker welder
        woodworker worker writer zoologist ceo cfo cto coo cmo ciso cio cpo chro vp rn lpn cna stna hca gp bookbinder
        evangelist champion crew apprenticeship internship traineeship dev devs reservist beautician stylist chairman
        purchaser doctoral doctorate postdoctoral expediter scheduler sommelier storekeeper warehouseman tradesman
        craftsman repairman doorman serviceman fireman postman hairstylist dba qa
        """,
        work_endings="administrator designer manager operator disponent controller analyst marketeer trainer specialist smith woman wright keeper maker",
        doubtful_work="""human woman man command demand roman humans ottoman norman hermann german workman lead head host
        server data aide partner guide guard chef principal crew associate volunteer provider owner founder qa scrum
        massage dean students employees""",
        irregular_plurals=(("ives", "ife"), ("men", "man")),
        plurals=((r"(?<=[^\W\d_]{2})ies$", "y"), (r"(?<=[^\W\d_]{3})(?<!s)s$", "")),
        short_forms={
            "dev": "developer",
            "devs": "developer",
            "eng": "engineer",
            "engs": "engineer",
            "mgr": "manager",
            "mgrs": "manager",
        },
        prepositions="of|in|for|and",
        of="of",
        stops="""
        who to that with for at on we you you'll you’ll is will are as whose where from role roles position positions within
        join working based reporting regarding concerning responsible looking interested having which post posts
        vacancy and/or be been your their this these has have can must would currently because when if including under
        by into across opportunity job it they able works work leads reports manages provides supports performs
        develops serves oversees ready supporting helping leading serving located committed passionate needed required
        whilst while through during but so
        """,
        praise="""
        a an the our new experienced passionate talented motivated highly skilled dynamic enthusiastic exceptional qualified
        dedicated ambitious driven self-motivated hands-on creative strong great brilliant outstanding proactive
        reliable committed compassionate caring hardworking energetic full-time part-time permanent additional
        suitably ideal next first 2nd second successful good friendly professional detail-oriented results-driven
        results-oriented innovative organised organized commercially-minded curious and seasoned accomplished
        fantastic very temporary remote several technical-minded keen bright exciting opportunity multiple top
        versatile collaborative strategic-minded confident capable amazing well forward-thinking kind some any
        following all few number of
        """,
        closing_pairs="in our|in the|in a|in an|in this|of our|of the|and be|and you|and help",
        glued="who",
        lead_ins=(
            LeadIn(4.0, rf"\b(?i:{_ASKING})\s+{_ARTICLE}"),
            LeadIn(4.0, r"\b(?i:join(?:ing)?\s[^.!?\n]{0,40}?\bas)\s+(?:an?|our|the)(?![a-z])"),
            LeadIn(3.5, rf"\b(?i:{_JOB}\s+(?:{_JOB_LINK}\s+)?)(?:an?|the|our)(?![a-z])"),
            LeadIn(3.0, r"\b(?:As|as|AS)\s+(?:an?|our|the)(?![a-z])"),
            LeadIn(3.0, r"\b[Rr]ecruiting(?:\s+now)?\s*[:–-]"),
            LeadIn(2.5, r"\b(?i:are\s+you|you\s+are|you['’]re)\s+an?(?![a-z])"),
            LeadIn(2.5, rf"(?:(?<=[.!?:*\n])|\A)\s*As\s+(?={_CAPITALISED}(?:in|at|for|with|of|you)\b)"),
            LeadIn(2.5, r"\b(?i:apply\s+for)\s+(?:(?:an?|the|our|this|these)\b)?"),
            LeadIn(2.2, rf"\b(?:[Tt]he|[Tt]his)(?=\s+{_CAPITALISED}{_DOING}\b)"),
        ),
        cuts=r"\b(?i:looking\sfor|seeking|hiring|as|join\sus\sas|for|is)\s(?:an?\s)?(?=\S)",
        training="experience|degree|background|worked",
        sentence="we|you|your|our|i|us|makes?|is|are|was|have|has|will|must|please|apply|that|this|there|join",
        organisation="""trust|hospital|university|group|company|corporation|corp|holding|department|council|surgery|school
        |partners""",
        label="job ?title|title|position|role|vacancy|job|function|we are hiring|now hiring|hiring",
        opening_label="job ?title|title|position|role|vacancy|job|function",
        announcement="hiring|we are hiring|we're hiring|wanted|join us as|urgent",
        suffix="careers?|jobs?|vacancy|position|wanted",
        post="position|role|post",
        post_of=r"of\s",
        article="an?",
        pay_scale=r"(?:salary\s)?(?:band|grade|level|aps)",
        grade="level|grade|band|step|tier",
        other_label=r"""start|locations?|salary|contract|employment(?:\stype)?|department|company|reports to|date|pay|region
        |closing date|ref\w*|hours|band|grade""",
        before_place="in|at|near",
        working_time="""remote remotely hybrid onsite site home office homeoffice full part time fulltime parttime contract permanent
        perm temporary temp interim casual employee per diem night day shift nights days evening evenings weekend weekends
        asap urgent fixed term ftc mth months month hire eastern western central zone hours hour week wk pt ft prn or and
        of us usa only first st nd rd th hr h k yr pa employment""",
        gender_words="all|genders?",
        all_genders=r"all\s*genders?",
    ),
    spoken=SpokenWords(
        names={
            "english": "english",
            "german": "german",
            "french": "french",
            "dutch": "dutch flemish",
            "spanish": "spanish castilian",
            "italian": "italian",
            "portuguese": "portuguese",
            "polish": "polish",
            "russian": "russian",
            "ukrainian": "ukrainian",
            "turkish": "turkish",
            "arabic": "arabic",
            "chinese": "chinese mandarin cantonese",
            "japanese": "japanese",
            "korean": "korean",
            "swedish": "swedish",
            "danish": "danish",
            "norwegian": "norwegian",
            "finnish": "finnish",
            "czech": "czech",
            "slovak": "slovak",
            "hungarian": "hungarian",
            "romanian": "romanian",
            "bulgarian": "bulgarian",
            "greek": "greek",
            "croatian": "croatian",
            "serbian": "serbian",
            "hebrew": "hebrew",
            "hindi": "hindi",
            "persian": "persian farsi",
            "vietnamese": "vietnamese",
            "thai": "thai",
            "luxembourgish": "luxembourgish",
            "catalan": "catalan",
            "welsh": "welsh",
        },
        also_words="polish thai",
        tail="speaking|speakers?",
        level="native|mother tongue|fluent",
        cue=r"""fluen\w+|speak\w*|spoken|written|proficien\w+|command|languages?|bilingual|trilingual|multilingual|oral\w*
        |communicat\w+ in""",
        goes_on=r"""and\b|or\b|language|skills?|speak|level|is\b|are\b|as\b|at\b|to\b|in\b|on\b|a\b|required|preferred
        |native|fluen|profic|both|with|plus|would|written|spoken|knowledge|mandatory|essential|desirable|\(""",
        of_others=r"\w+[-\s]speaking (?:jobs?|countr\w+|markets?|clients?|customers?|world|regions?)",
        welcome=r"""plus|advantage\w*|preferred|desirable|nice to have|asset|bonus|beneficial|ideally|optional|helpful
        |welcome""",
        ideally="ideally|preferably",
        no="no|not",
        not_="not",
        needed="required|needed|necessary",
        required="needed|required|mandatory|essential|a must",
        is_="is|are",
        in_="in",
        speaking=r"speaking|speakers?|required|fluen\w*|native|level",
    ),
    years=YearsWords(
        numbers="one two three four five six seven eight nine ten",
        years="years?|yrs?",
        months="months?",
        or_more=r"or\s+more",
        until="to",
        reader=r"you|candidat\w*",
        experience=r"experien|track record|worked|exp\b",
        experience_noun="experience",
        experience_link=r"of|with|min\w*\.?|at least",
        asked=r"minimum|min\.?|at least|requires?|required|must have|more than|over|from|you have",
        not_before=r"""\bsince|\b(?:last|past|next|first|previous|recent)|\bage[ds]?|\bwithin|\bunder|\bevery|\bafter
        |\b(?:contract|duration|warranty)\W+(?:\w+\W+){0,3}?|\bfor(?:\s(?:over|more than|nearly|almost|the))?|\bduring
        |\bfounded""",
        not_after=r"""old\b|of age|or older|or over|ago\b|running|in business|of history|warranty|high school|college|degree
        |diploma|contract|program|programme|bachelor|master|apprenticeship|course|training|school|post\b|served|fixed
        |term\b|tradition|position\b|project|pension""",
        boast=r"""we have|we've|we’ve|we bring|our (?:team|company|firm|story)|the company|combined|company with
        |family business|agency with|has been|market leader""",
        secondary="including|of which|thereof|preferred|ideally|nice to have|a plus",
        at_most=r"up to|max(?:imum|\.|imal)?|less than",
        short_at_most=r"max\.?\s|up to\s|less than\s|under\s",
        short_at_least=r"min\.?\s|at least\s|over\s|more than\s",
        short_years="years?|yrs?|yoe|y",
        short_experience="experience|exp",
        short_of=r"of\s",
        short_not="old|ago",
    ),
    skills=SkillWords(
        example_before=r"such as|like|e\.?\s?g\.?,?|for example|type|one of|any of|either",
        example_after="or (?:a )?(?:similar|equivalent|comparable|other|another)",
        denied="no|not|without",
        little=r"""basic|basics|some|familiar\w*|exposure|affinity|interest\w*|willing\w*|eager|learn\w*""",
        firm=r"""must[\s-]have|must|required?|mandatory|essential|expert\w*|strong|deep|proven|solid|excellent|advanced
        |proficien\w+|extensive""",
        around="skills knowledge a plus nice",
    ),
    exclusions=ExclusionWords(
        not_=r"not(?:\s(?:from|in|at|near|with|any))?|no|without|except(?:\sfor)?|excluding|exclude|excl\.?|minus",
        also_not="no",
        needed=r"required|needed|necessary|must|problem\w*",
        agencies=r"""(?:(?:recruit(?:ment|ing)|staffing|temp|headhunt\w*)\s)?(?:agenc(?:y|ies)|consultanc(?:y|ies)|bureaus?)|headhunters?|consulting|body ?leas\w*|outsourc\w+|start-?ups?
        |corporates?|big ?tech|faang|competitors?""",
        no_agencies=r"no (?:recruitment\s)?agencies|no recruiters|agencies need not apply",
        no_freelancers="no (?:freelancers?|freelances|contractors)",
        freelance=r"freelanc\w*|contractors?|self-employed",
        levels="junior|senior|trainee|graduate|starter",
        remote=r"""remote(?:[-\s](?:first|only|work(?:ing)?|ok))?|hybrid(?:e|es)?|home[-\s]?office|work(?:ing)? from home
        |wfh|on-?site""",
    ),
    short=ShortWords(
        greeting="hi|hello|please",
        asker=r"we(?:['’]re|\sare)?|i(?:['’]m|\sam)?",
        wish="currently|urgently|need to|want to|would like to",
        asking=r"""looking for|searching for|search for|seeking|need|want|hiring|hire|find(?:\sme)?|source|get me|show me
        |wanted:?""",
        joiners="with|who|having|knowing|speaking",
        edges="""in at near around within of for from to the a an based located region area greater close by and or with who
        only km miles mile radius experience exp years year minimum min least + - – & no not local candidates people
        profiles profile person talent talents please required must have level plus wanted speak speaks speaking native
        fluent mandatory several some multiple few two three""",
    ),
    places=PlaceWords(
        noise="""remote remotely hybrid onsite on-site on site office offices in at the of and or area areas greater region
        near km miles day days week weeks wk w x per fully full part time only based hq headquarters head home homeoffice
        work working from wfh cet cest est pst edt pdt utc gmt bst timezone timezones zone optional flexible first up to
        city centre center downtown metro metropolitan north south east west northern southern central locations location
        multiple various plus with a dept county state province land possible option options anywhere all within also jobs
        ca circa approximately max min we us eu permanent temporary contract full-time part-time fulltime parttime h f m d v
        type role job position nationwide emea travel""",
        label=r"""(?:job|work|working|office|primary|base)?\s?locations?|where(?:\swe['’]re|\swe are)?|office|place of work
        |duty station|work(?:\s|-)?site|workplace|city|based|region|site|address""",
        label_alone=r"(?:job|work|office)?\s?locations?|place of work",
        workplace_before=r"""(?:based|located|situated|work|working|working on[ -]?site|on[ -]?site|role|position|job|opportunity|vacancy|team|teams|live|living|reside|residing)\s(?:is\s|are\s|be\s)?(?:based\s|located\s)?(?:in|at|out of|near|around|from)
        |(?:our|the|its|their|an?|new)\s(?:[\w-]+\s){0,3}?(?:office|site|facility|headquarters|hq|hub|studio|branch|plant|store|campus|clinic|practice|warehouse|location|lab)\s(?:is\s|are\s)?(?:located\s|based\s)?(?:in|at|near|outside)
        |join\sus\s(?:in|at)|relocat\w+\sto|commut\w+\s(?:to|from)|commutable\s(?:to|from|distance of)|within\s\d+\s?(?:km|kms|kilometers|kilometres|miles|mi)\s(?:of|from)""",
        workplace_article=r"the|city\sof|greater|downtown|central|heart\sof|sunny|beautiful",
        workplace_after=r"[-\s]based\b|\s(?:area|metro(?:politan)?(?:\sarea)?|region|office|offices|hq|headquarters?|hub|studio|campus|branch|site|team|location)\b",
        our="our|the",
        office="office|hub|studio|site|campus|team|branch|HQ|headquarters?",
        seat_before=r"""(?:offices|locations|sites|hubs|branches|presence)\s(?:are\s|is\s)?(?:located\s)?(?:in|at|across|including)
        |headquartered\s(?:in|at)|headquarters?\s(?:in|at)|hq\s(?:in|at)|founded\sin|company\s(?:in|from)
        |start-?up\s(?:in|from)|firm\sin""",
        mention_before="in|near",
        title_before="in|near|at|for|@|based in",
        title_article="the",
        title_after="area",
        elsewhere_before=r"""travel(?:ling|ing|s)?\s(?:to|in|between)|trips\sto|studied\s(?:in|at)|graduated\sfrom
        |degree\sfrom|investors\s(?:are\s)?(?:based\s)?in|born\sin|colleagues\s(?:in|from)|teams\s(?:in|across)
        |like\s(?:in|at)|customers\s(?:in|from)|customers\slike""",
        organisation_before="""university|college|hospital|school|bank|institute|city|county|agency|town|port|state|council
        |museum|diocese|royal""",
        organisation_of="of",
        organisation_after=r"""University|Hospital|Hospitals|College|Health|Healthcare|Trust|Group|Bank|School|Institute
        |Airlines|Stock|Times|Marathon|Business School|Fair Chance|Ordinance|County|Council|Code|Act|Law""",
        within=r"within|max\.?|up to|~",
        radius="radius|commute|drive",
        around="of|from|around",
        within_article="the",
        within_after="within",
        asked_before=r"""(?:(?:who\s)?(?:live|living|lives|based|located|residing)\s)?(?:in|near|around|at|from|close to|out of)
        |across|anywhere in|of""",
        asked_article=r"the\s|greater\s|city of\s",
        not_before="not|no|except|excluding|exclude|but not|outside|outside of",
        not_link="in|from|near|at|of|around|based in",
        country_weights={"US": 0.4, "GB": 0.4},
        cues=(
            Cue("GB", 1.0, r"Ltd|Limited|LLP|plc"),
            Cue(
                "US",
                3.0,
                r"Medica(?:id|re)|HIPAA|protected veterans?|veteran status|Equal (?:Employment\s)?Opportunity Employer|affirmative action|Americans with Disabilities|drug[- ](?:screen\w*|test\w*)|background check",
            ),
            Cue(
                "US",
                2.5,
                r"high school diploma|GED|GPA|bachelor['’]s degree|community college|PTO|paid time off|per diem|LPN|RN|LSW|LCSW|CPA|EIN|non-exempt|FLSA|civil service (?:title|list|status|exam\w*)|board certified|state license|CDL",
            ),
            Cue(
                "US",
                2.0,
                r"NYSE|NASDAQ|Fortune \d+|(?:Eastern|Pacific|Central|Mountain)(?:\s(?:Standard|Daylight))? Time|EST|PST|PDT|EDT|CST|nationwide|Blue Cross|boroughs?|on-target earnings|Fair Chance|local, state|state,(?:\sand/or| or)?\s(?:and\s|or\s)?(?:local|federal)|federal, state|American?|\$\d+[\d,.]*\s?(?:/|per |an )\s?h(?:ou)?r",
            ),
            Cue(
                "US",
                0.7,
                r"colors?|labor|programs?|behavior\w*|favorite|organiz\w+|analyz\w+|centers?|fulfill\w*|counseling|specializ\w+",
            ),
            Cue(
                "GB",
                4.0,
                r"NHS|DBS(?:\scheck)?|band [2-9]|NMC|GMC|HCPC|Agenda for Change|right to work in the UK|National Insurance|GCSEs?|A[- ]levels?|HMRC|ACCA|CIPD|bank holidays?|NVQ|cycle to work|HCAS|CCG|GP (?:surgery|practices?)|clinical commissioning|CQC|Ofsted|UK driving licence|PAYE|IR35|United Kingdom|Great Britain",
            ),
            Cue(
                "GB",
                2.0,
                r"per annum|pro rata|curriculum vitae|pension scheme|annual leave|maternity cover|UK|Britain|British|England|Scotland|Wales|Welsh|Scottish",
            ),
            Cue(
                "GB",
                1.0,
                r"organis\w+|behaviours?|colours?|labour|programmes?|centres?|favour\w*|analys(?:e|ing)|specialis\w+|recognis\w+|licence|enrolment|utilis\w+|prioritis\w+|optimis\w+",
            ),
            Cue(
                "AU",
                0.6,
                r"organis\w+|behaviours?|colours?|programmes?|centres?|analys(?:e|ing)|specialis\w+|recognis\w+|licence|prioritis\w+",
            ),
            Cue("IE", 3.0, r"Ireland|Irish|QQI|Leaving Cert|CORU|NMBI|PPS number|Garda vetting|Stamp [14]"),
            Cue(
                "AU",
                4.0,
                r"superannuation|plus super|\+ super|Aboriginal|Torres Strait|APS ?\d?|AHPRA|Australian?|Working with Children Check|NDIS|salary packaging|EL ?[12]",
            ),
            Cue("NZ", 4.0, r"KiwiSaver|New Zealand|Aotearoa|M[āa]ori"),
        ),
    ),
)
